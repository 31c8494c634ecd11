//! Why a URL is not called, for people.

use std::fmt;

/// Why a URL is not called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// Over 2,048 bytes.
    TooLong,
    /// Not a URL with a host.
    Malformed,
    /// Neither http nor https.
    Scheme,
    /// Carries a user name or a password.
    Userinfo,
    /// A port of another protocol.
    Port,
    /// The machine itself.
    Loopback,
    /// A private network.
    Private,
    /// The local link, where clouds keep their metadata service.
    LinkLocal,
    /// A provider's inner network, 100.64.0.0/10.
    CarrierNat,
    /// No address of a host: 0.0.0.0/8 and `::`.
    Unspecified,
    /// For examples only.
    Documentation,
    /// A group of hosts.
    Multicast,
    /// Set aside by IANA.
    Reserved,
    /// An IPv4 address in the clothes of IPv6: NAT64, 6to4, Teredo.
    Transition,
    /// A public address where a name is needed.
    PublicAddress,
    /// A name that only a private resolver answers.
    LocalName,
    /// A name of a service whose answers are the address in the name.
    EmbedsAddress,
    /// This deployment itself.
    OwnHost,
    /// A redirect from https to http.
    Downgrade,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 19] = [
        Self::TooLong,
        Self::Malformed,
        Self::Scheme,
        Self::Userinfo,
        Self::Port,
        Self::Loopback,
        Self::Private,
        Self::LinkLocal,
        Self::CarrierNat,
        Self::Unspecified,
        Self::Documentation,
        Self::Multicast,
        Self::Reserved,
        Self::Transition,
        Self::PublicAddress,
        Self::LocalName,
        Self::EmbedsAddress,
        Self::OwnHost,
        Self::Downgrade,
    ];

    /// Whether an agent inside that network could make the call.
    #[must_use]
    pub const fn is_inside(self) -> bool {
        matches!(
            self,
            Self::Loopback | Self::Private | Self::LinkLocal | Self::CarrierNat | Self::LocalName
        )
    }

    /// The reason and the way out, in English and in Chinese.
    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::TooLong => ("the URL has more than 2,048 bytes", "URL 超过 2,048 字节"),
            Self::Malformed => (
                "this is not a URL with a host; write it without spaces, control characters and backslashes, \
                 and international names in punycode (xn--…)",
                "这不是带主机名的有效 URL；不要包含空格、控制字符和反斜杠，国际化域名请写成 punycode（xn--…）",
            ),
            Self::Scheme => ("use http:// or https://", "请使用 http:// 或 https://"),
            Self::Userinfo => (
                "the URL carries a user name or password; send an Authorization header instead",
                "URL 中带有用户名或密码；请改用 Authorization 请求头",
            ),
            Self::Port => (
                "this port belongs to another protocol; use a port for HTTP",
                "该端口属于其他协议；请使用 HTTP 端口",
            ),
            Self::Loopback => (
                "this is the machine itself (loopback)",
                "这是本机（回环）地址",
            ),
            Self::Private => ("this address is in a private network", "这是私有网络地址"),
            Self::LinkLocal => (
                "this is a link-local address or a cloud's metadata service",
                "这是链路本地地址或云元数据服务",
            ),
            Self::CarrierNat => (
                "this address is in a provider's inner network (100.64.0.0/10)",
                "这是运营商内部网络地址（100.64.0.0/10）",
            ),
            Self::Unspecified => ("this is not the address of a host", "这不是主机地址"),
            Self::Documentation => (
                "this address is for examples in documents only",
                "该地址仅供文档示例使用",
            ),
            Self::Multicast => (
                "this address is a group, not a host",
                "这是组播或广播地址，不是主机",
            ),
            Self::Reserved => ("this address is reserved", "这是保留地址"),
            Self::Transition => (
                "this address hides an IPv4 address (NAT64, 6to4 or Teredo)",
                "该地址内嵌 IPv4 地址（NAT64、6to4 或 Teredo）",
            ),
            Self::PublicAddress => (
                "the edge does not call bare IP addresses; use a host name",
                "边缘节点不能访问裸 IP 地址；请使用域名",
            ),
            Self::LocalName => (
                "only a private network knows this name",
                "只有内网能解析该主机名",
            ),
            Self::EmbedsAddress => (
                "this name stands for the address written in it, or for a changing one; use the service's own name",
                "该域名会解析到其中写入的或会变化的地址；请使用服务自己的域名",
            ),
            Self::OwnHost => (
                "this is Cronwright itself; a job cannot call the deployment that runs it",
                "这是 Cronwright 自身；任务不能调用运行它的部署",
            ),
            Self::Downgrade => (
                "the redirect leads from https to http",
                "重定向从 https 降级到了 http",
            ),
        }
    }
}

/// A URL that is not called, now or later: a permanent refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Why.
    pub reason: Reason,
    /// The host as it was read, empty when none was. At most 100 characters.
    pub host: String,
}

impl Blocked {
    /// The stable error code.
    pub const CODE: &'static str = "blocked_target";

    pub(super) fn new(reason: Reason, host: &str) -> Self {
        Self {
            reason,
            host: host.chars().take(100).collect(),
        }
    }

    pub(super) const fn without_host(reason: Reason) -> Self {
        Self {
            reason,
            host: String::new(),
        }
    }

    /// The reason and what to do, in English.
    #[must_use]
    pub fn hint(&self) -> String {
        let (english, _) = self.reason.texts();
        if self.reason.is_inside() {
            format!("{english}. Name a \"pool\": an agent inside that network then makes the call.")
        } else {
            format!("{english}.")
        }
    }

    /// The reason and what to do, in Chinese.
    #[must_use]
    pub fn hint_zh(&self) -> String {
        let (_, chinese) = self.reason.texts();
        if self.reason.is_inside() {
            format!("{chinese}。请设置 \"pool\"（节点组），由该网络内的执行节点发起请求。")
        } else {
            format!("{chinese}。")
        }
    }
}

impl fmt::Display for Blocked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.is_empty() {
            write!(f, "target refused: {}", self.hint())
        } else {
            write!(f, "target {} refused: {}", self.host, self.hint())
        }
    }
}

impl std::error::Error for Blocked {}
