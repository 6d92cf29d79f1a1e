#!/usr/bin/env bash
# Makes the seeds of the targets parse_rsa_key and verify_rsa anew, from the key in rsa_key.h and from fresh ones of other
# types: fuzz/make_rsa_seeds.sh. Needs openssl and ssh-keygen.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

key=$(mktemp)
trap 'rm -f "$key"' EXIT
sed -n 's/^ *"\(.*\)\\n".*/\1/p' rsa_key.h >"$key"
mkdir -p corpus/parse_rsa_key corpus/verify_rsa

cd corpus/parse_rsa_key
cp "$key" pkcs8.pem
openssl pkey -in "$key" -outform DER -out pkcs8.der
openssl rsa -in "$key" -traditional -out pkcs1.pem 2>/dev/null
openssl rsa -in "$key" -traditional -outform DER -out pkcs1.der 2>/dev/null
openssl rsa -in "$key" -traditional -aes128 -passout pass:fuzz -out pkcs1_encrypted.pem 2>/dev/null
openssl pkcs8 -topk8 -in "$key" -passout pass:fuzz -iter 1 -out pkcs8_encrypted.pem
openssl pkey -in "$key" -pubout -out spki.pem
openssl pkey -in "$key" -pubout -outform DER -out spki.der
openssl rsa -in "$key" -RSAPublicKey_out -outform DER -out pkcs1_public.der 2>/dev/null
openssl req -new -x509 -key "$key" -subj /CN=seed -days 36500 -outform DER -out certificate.der
openssl x509 -in certificate.der -inform DER -out certificate.pem
ssh-keygen -y -f "$key" >public.ssh
openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem 2>/dev/null
openssl genpkey -algorithm ED25519 -outform DER -out ed25519.der
openssl genrsa -out /dev/stdout 1024 2>/dev/null | openssl rsa -pubout -outform DER -out legacy_public.der 2>/dev/null

# The first byte chooses signatures (even) or ciphertexts (odd); what follows is read by the target.
cd ../verify_rsa
printf '\0\2\1\0\1' >pkcs1_right
printf '\0\2\1\0\1\20\1' >pkcs1_changed
printf '\0\2\1\0\0\0\1\377\377' >pkcs1_of_my_own
printf '\0\2\0\2\0\0\1\0\0\1' >pss_right
printf '\0\2\0\2\3\0\0\40\0\1' >pss_any_salt
printf '\0\2\0\2\2\24\0\40\0\1' >pss_other_salt
printf '\0\2\0\2\0\0\1\0\0\1\377\1' >pss_changed
printf '\0\2\1\1\1' >signature_cut
printf '\1\2\2\12\0\1' >oaep_right
printf '\1\2\2\12\0\1\0\1' >oaep_first_byte
printf '\1\2\2\12\0\1\60\1' >oaep_label
printf '\1\2\2\12\1\1\360\1' >oaep_masked
