//! What routes do: one name each, which is also the operation's id in the OpenAPI document and the
//! action in the audit.

macro_rules! ops {
    ($($variant:ident $id:literal)*) => {
        /// What a route does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "the route table says what each does")]
        pub enum Op { $($variant,)* }

        impl Op {
            /// Every operation.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The operation's id.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)* }
            }
        }
    };
}

ops! {
    ListJobs "listJobs"
    CreateJob "createJob"
    PreviewSchedule "previewSchedule"
    ValidateJob "validateJob"
    GetJob "getJob"
    ReplaceJob "replaceJob"
    SetJobStatus "setJobStatus"
    DeleteJob "deleteJob"
    RunJob "runJob"
    ListJobRuns "listJobRuns"
    GetTask "getTask"
    ListRuns "listRuns"
    GetRun "getRun"
    GetRunLedger "getRunLedger"
    GetRunOutput "getRunOutput"
    CancelRun "cancelRun"
    ReplayRun "replayRun"
    CompleteRun "completeRun"
    ReportProgress "reportProgress"
    ListApps "listApps"
    CreateApp "createApp"
    RotateApp "rotateApp"
    RetireAppKey "retireAppKey"
    ListEndpoints "listEndpoints"
    GetEndpoint "getEndpoint"
    CloseBreaker "closeBreaker"
    ListDeliveries "listDeliveries"
    ReplayDelivery "replayDelivery"
    ReplayDeadLetters "replayDeadLetters"
    ListTokens "listTokens"
    CreateToken "createToken"
    RevokeToken "revokeToken"
    SetUp "setUp"
    ListAudit "listAudit"
    Rebuild "rebuild"
    GetMetrics "getMetrics"
    GetHealth "getHealth"
    GetOpenapi "getOpenapi"
    ApiPage "apiPage"
    HomePage "homePage"
    SignInPage "signInPage"
    SignIn "signIn"
    SignOut "signOut"
    GetAsset "getAsset"
}
