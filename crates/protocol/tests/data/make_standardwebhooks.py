"""Makes standardwebhooks.json with the reference library of Standard Webhooks:

    pip install standardwebhooks==1.1.0 && python make_standardwebhooks.py > standardwebhooks.json
"""

import base64
import json
from datetime import datetime, timezone

from standardwebhooks.webhooks import Webhook


def secret(length, seed):
    return "whsec_" + base64.b64encode(bytes((i * 7 + seed) % 256 for i in range(length))).decode()


BODIES = [
    '{"jobId":"job_20240601_001","status":"SUCCESS"}',
    '{"status":"SUCCESS","jobId":"job_20240601_001"}',
    "",
    "{}",
    '{"summary":"订单同步完成 ✓ \\u2028"}',
    '{"a":1}\n',
    '{"a":1}\r\n',
    "not json . at . all",
    "x" * 20_000,
    '{"emoji":"👩‍🚀","nul":"\\u0000"}',
]
SECRETS = [secret(32, 0), secret(24, 11), secret(64, 200), secret(32, 5).rstrip("=")]

vectors = []
for n, body in enumerate(BODIES * 2):
    key = SECRETS[n % len(SECRETS)]
    msg_id = ["run_3_1f_mh2k9a00_v1", "msg_p5jXN8AQM9LWM0D4loKWxJek", "a-b_C9"][n % 3]
    seconds = [1_614_265_330, 1_796_000_000, 1_000_000_000][n % 3] + n
    at = datetime.fromtimestamp(seconds, tz=timezone.utc)
    vectors.append(
        {
            "secret": key,
            "id": msg_id,
            "timestamp": seconds,
            "body": body,
            "signature": Webhook(key).sign(msg_id, at, body),
        }
    )
how = "made by make_standardwebhooks.py with standardwebhooks 1.1.0 from PyPI; do not edit"
print(json.dumps({"how": how, "vectors": vectors}, indent=1))
