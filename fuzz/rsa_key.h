// The key of the targets that need one: made for them, and of no other use.
#pragma once

namespace stockade::fuzz {

inline constexpr char rsa_key_pem[] =
    "-----BEGIN PRIVATE KEY-----\n"
    "MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQDdxceN6prlHmn0\n"
    "4HwVxvFKe5j06xchOlKJMG1Gj7nikyVVXxm9CBV4Z0yMnLdAQYyHe3XcrKKF+4U8\n"
    "XzJ0UQt+dyBiJXHuj7ZMkugIc7wy+nHzXe30xAobqdY/XCjcQISpoFyudZL8nxqp\n"
    "gaA96AyP1aV4rKV+N0Uj4UhNdlU06cjPgYN89jhQXOntzB45g3ZFvbK8B5vrJ8eV\n"
    "avl0eOGzvaa6zshTmaks774ynIoLKqm7M+WA3PSI1/5USuwttePg7C2GFBoBu1EU\n"
    "wbqOo09rIbVRv/lO9zoYpbBTAQ2P8G6K8jn+OJhoWhxRdC3ZMfTmx5LYpNuSUB0I\n"
    "QXRcRAYZAgMBAAECggEARNWOBlUCpcnmXkzNBt9cZl9tjttnLveQxacjy8pxiktc\n"
    "w55EeWFIdLovTteXo1iVGzotT4S/3zE93gq4ONUs6aBlC0GPFtpBXYwde/4cNIB6\n"
    "nOyTHq04a/SvnLPotNBLvPCaw8WXjVR+7Izg5UYgnAZWmVmQ9leGXMggbnajpMu1\n"
    "QSzBkkwLLtJZq2rACYizAdIEC0gY6I5aMapjfdlhHafXydBXSyiDl25biUCF4ssD\n"
    "VuG0H8Jp6YzYHvxhIsgbUP9Etliau6s2JWnxR6uAMQUTlqaLI9w0k1JcgTxv0iZW\n"
    "Ar+nkut9nfN7Wr14RmVnXg3EeWHra6XCylZfRdB+BwKBgQD+LF4tib7o8s+xLC5f\n"
    "RBaYxM6lwiAMCmLT7HXIpY1Qwk+AWS0hp/ZE4//lm8+QJQ4YYuWeNuqnTtBNmS+2\n"
    "Gz2ReWKJuvjskaoWribRDV7U6q3TJFH83ZJTWf1QTfkVKorTt6kdqgfm04nDX46a\n"
    "jTYnMYaFNh9pW+LtgEcvKWghSwKBgQDfXczcQFrjbLXCKdjaO7w7k7xT/xtQ3mTO\n"
    "AU98oW036mOxQY6B/CD03p/0yN0O5kHxoO8UDiqv5PbMijG7Ec5lgeCRnnmya9IN\n"
    "nxRmaSag3gHKtayjLY/2TLNJ3l7TYdbxuxHbo/XJ4kYiSPTcHBHhfG4+/EeUiaMQ\n"
    "NKF0r6y7qwKBgBG/R1Qmqg3Z5maYjyRXvLwuAb/RLiupDf1+JTs9VACvkJ2FnIEd\n"
    "GTT2NofxuSx3aeSKAz5o1zmXZzQD3jD49fOSZi73vynFgfrTbiJqrJRxTnHPt2nQ\n"
    "jscDIYzZ5Op1bfwadtR7atHTM2tQ4MQp1/4klx/2B3tzzwSGUHIakgrBAoGAN7RU\n"
    "2rjR8dWynnGBOyuajeESHoCId2p/CUEaaaJ4cnFp21LWD2Spc2fxzEIrnwOdfnz8\n"
    "IqxFyQf45JmyPUz7hCUXtDkpcG2jPPJnTAL9NzEmkT8thqReOrZ2H/3s+Bp2WGKm\n"
    "2XfSXD6p7vLy3dHCQ9GcTOjtkQWiPPBjM458LXECgYAXMr/R0lniAcrdDN7PLzNm\n"
    "huok689Muf62SGHNu943mOLQOIzg3FLCa6QfqTIO7CQCS66ydF4t0qct5zEaPEIi\n"
    "znp//YB+0i6kuMo6KjzfZYG9qM7NBxA0PmcptxmxxnPdpXNTXdJzlxe9Knt8nhWd\n"
    "8K+PqVCVCoggtLIQsG5KGg==\n"
    "-----END PRIVATE KEY-----\n";

}  // namespace stockade::fuzz
