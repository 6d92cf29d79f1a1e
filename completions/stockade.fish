# fish completion for stockade(1)

# Whether the words before the cursor name exactly this command: "encrypt", "raw encrypt", or "" for none.
function __stockade_at
    set -l words (commandline -opc)[2..]
    set -l found
    for word in $words
        switch "$found"
            case ''
                contains -- $word keygen encrypt decrypt inspect verify rekey plan join cobblestone raw rsa info bench report tune
                and set -a found $word
            case plan cobblestone raw
                contains -- $word encrypt decrypt
                and set -a found $word
            case rsa
                contains -- $word sign verify encrypt decrypt
                and set -a found $word
            case bench
                contains -- $word aes file rsa studies compare
                and set -a found $word
        end
    end
    test "$found" = "$argv[1]"
end

# __stockade_option "command ..." arguments of complete: one option of several commands.
function __stockade_option
    for command in (string split , -- $argv[1])
        complete -c stockade -n "__stockade_at '$command'" $argv[2..]
    end
end

set -l raw 'raw encrypt,raw decrypt'
set -l cobblestone 'cobblestone encrypt,cobblestone decrypt'
set -l benches 'bench aes,bench file,bench rsa,bench studies'
set -l rsa_private 'rsa sign,rsa decrypt'
set -l rsa_public 'rsa verify,rsa encrypt'
set -l rsa "$rsa_private,$rsa_public"
set -l plans 'plan encrypt,plan decrypt'
set -l opens 'decrypt,verify,rekey,plan decrypt,join'
set -l makes 'encrypt,plan encrypt'
set -l keys "$makes,$opens"
set -l runs "encrypt,decrypt,verify,join,$raw,$cobblestone"
set -l writes "keygen,encrypt,decrypt,$plans,join,$raw,$cobblestone"
set -l parts "encrypt,decrypt,$plans,join"
set -l all ",keygen,inspect,info,rekey,plan,$plans,cobblestone,raw,rsa,bench,bench compare,tune,$runs,$rsa,$benches"

complete -c stockade -n "__stockade_at ''" -f
for pair in 'keygen:make a key' 'encrypt:encrypt files' 'decrypt:decrypt Stockade files, or a part of one' \
        'inspect:show what a Stockade file says of itself' 'verify:open every chunk and list what is damaged' \
        'rekey:change who can open Stockade files' 'plan:begin a file that many machines make or open in parts' \
        'join:complete a file that was made in parts' 'cobblestone:encrypt or decrypt the payload alone' \
        'raw:one AES mode with a key and IV of your own' \
        'rsa:sign, verify, encrypt and decrypt with an RSA key' 'info:show what this machine can run' \
        'bench:measure this machine against OpenSSL' 'report:draw results of benchmarks' 'tune:measure what is quickest on this machine'
    set -l parts (string split -m 1 : -- $pair)
    complete -c stockade -n "__stockade_at ''" -a $parts[1] -d $parts[2]
end
__stockade_option plan,cobblestone,raw -f -a 'encrypt decrypt'
__stockade_option rsa -f -a 'sign verify encrypt decrypt'
__stockade_option bench -f -a 'aes file rsa studies compare'

__stockade_option $all -s h -l help -d 'show help'
__stockade_option '' -s V -l version -d 'show the version'
__stockade_option keygen -l symmetric -d 'a key of 32 random bytes'
__stockade_option keygen -l rsa -x -a '2048 3072 4096' -d 'an RSA key of so many bits'
__stockade_option "inspect,info,bench compare,tune,$benches" -l json -d 'as JSON'
__stockade_option $keys -s k -l key-file -r -F -d 'a key file'
__stockade_option $makes,$rsa_public -s r -l recipient -r -F -d 'an RSA public key'
__stockade_option $makes -s R -l recipients-file -r -F -d 'many RSA public keys'
__stockade_option $opens,$rsa_private -s i -l identity -r -F -d 'an RSA private key'
__stockade_option keygen,$rsa_private,$keys -s p -l passphrase -d 'ask for a passphrase'
__stockade_option keygen,$rsa_private,$keys -l passphrase-file -r -F -d 'read the passphrase from a file'
__stockade_option keygen,$rsa_private,$keys -l passphrase-fd -x -d 'read the passphrase from a descriptor'
__stockade_option $rsa_private,$keys -l no-input -d 'never ask'
__stockade_option $makes,rekey -l work-factor -x -d 'log2 of a new passphrase\'s cost'
__stockade_option $opens -l max-work-factor -x -d 'refuse a passphrase of a higher cost'
__stockade_option $rsa,$writes -s o -l output -r -F -d 'the file to write'
__stockade_option $rsa,$writes -s f -l force -d 'replace an existing output'
__stockade_option encrypt,decrypt -l output-dir -x -a '(__fish_complete_directories)' -d 'write to this folder'
__stockade_option encrypt,decrypt -l resume -d 'go on with an interrupted run'
__stockade_option encrypt,decrypt -l accept-changed-input -d 'although times or inode of the input have changed'
__stockade_option encrypt,decrypt -l check -d 'with --part: read back what is done'
__stockade_option join -l unchecked -d 'do not read the output back'
__stockade_option encrypt -l resume-key -r -F -d 'the key of who can go on'
__stockade_option $makes -l cipher -x -a 'cobblestone-256 cobblestone-128' -d 'the cipher'
__stockade_option encrypt -s a -l armor -d 'as text'
__stockade_option encrypt,decrypt -l part -x -d 'this part only: I/N'
__stockade_option $parts -l plan -r -F -d 'the plan of all parts'
__stockade_option $parts -l plan-key -r -F -d 'the key of who can use the plan'
__stockade_option $plans -l parts -x -d 'how many parts there will be'
__stockade_option $plans -l slice -x -d 'bytes in a slice'
__stockade_option decrypt -l range -x -d 'these bytes only: OFFSET:LENGTH'
__stockade_option $rsa -l hash -x -a 'sha256 sha384 sha512' -d 'the hash function'
__stockade_option $rsa -l batch -r -F -d 'many at once, a line for each'
__stockade_option 'rsa sign,rsa verify' -l padding -x -a 'pss pkcs1v15' -d 'the padding'
__stockade_option 'rsa sign,rsa verify' -l salt-length -x -a 'digest max any' -d 'of pss'
__stockade_option 'rsa verify' -l signature -r -F -d 'the signature'
__stockade_option 'rsa verify' -l legacy -d 'also keys of 1024 bits'
__stockade_option 'rsa encrypt,rsa decrypt' -l label -x -d 'what the message is bound to'
__stockade_option rekey -l add -r -F -d 'add the key in this file'
__stockade_option rekey -l add-recipient -r -F -d 'add an RSA public key'
__stockade_option rekey -l add-recipients-file -r -F -d 'add many RSA public keys'
__stockade_option rekey -l add-passphrase -d 'add a passphrase'
__stockade_option rekey -l add-passphrase-file -r -F -d 'add the passphrase in a file'
__stockade_option rekey -l add-passphrase-fd -x -d 'add the passphrase of a descriptor'
__stockade_option rekey -l remove -r -F -d 'remove a key, its id, or passphrase'
__stockade_option rekey -l restore -d 'finish what an interrupted rekey has left'
__stockade_option $raw,$cobblestone -l key-file -r -F -d 'the key'
__stockade_option $cobblestone -l context -x -d 'what the data is bound to, in hex'
__stockade_option $cobblestone -l bits -x -a '256 128' -d 'length of the key'
__stockade_option $raw -l cipher -x -a 'aes-{128,192,256}-{ecb,cbc,cfb,ofb,ctr,gcm} aes-{128,256}-xts' -d 'the cipher'
__stockade_option $raw -l key -x -d 'the key in hex'
__stockade_option $raw -l iv -x -d 'initialisation vector in hex'
__stockade_option $raw -l aad -x -d 'associated data of GCM in hex'
__stockade_option $raw -l padding -x -a 'pkcs7 none' -d 'of ECB and CBC'
__stockade_option $raw -l data-unit -x -d 'bytes per unit of XTS'
__stockade_option $runs,$rsa -s T -l threads -x -d 'at most N threads'
__stockade_option $runs -l engine -x -a 'auto serial threads cuda hybrid' -d 'who runs it'
__stockade_option $runs -l devices -x -d 'these GPUs, such as 0,2'
__stockade_option $runs -l progress -x -a 'auto always never json' -d 'when to show progress'
__stockade_option keygen,rekey,$plans,$runs,$rsa,$benches,tune -s q -l quiet -d 'say nothing but errors'
__stockade_option rekey,$plans,$runs -s v -l verbose -d 'say how the work is done'
__stockade_option 'bench aes' -l pause -x -d 'microseconds of sleep before each message'
__stockade_option 'bench aes' -l lanes -x -d 'buffers of a GPU'
__stockade_option 'bench aes' -l run-bytes -x -d 'bytes of a buffer'
__stockade_option 'bench aes' -l cipher -x -d 'names or parts of them'
__stockade_option 'bench aes' -l sizes -x -d 'bytes per message'
__stockade_option 'bench aes,bench rsa' -l threads -x -d 'numbers of threads'
__stockade_option 'bench aes,bench rsa' -l row -x -d 'these rows only'
__stockade_option 'bench aes' -l engine -x -a 'cuda' -d 'GPUs instead'
__stockade_option 'bench aes' -l devices -x -d 'these GPUs, such as 0,2'
__stockade_option 'bench aes' -l only -x -d 'questions of --engine cuda'
__stockade_option 'bench aes' -l folder -x -a '(__fish_complete_directories)' -d 'where files are made'
__stockade_option $benches -l rounds -x -d 'turns of each contender'
__stockade_option $benches,tune -l quick -d 'some seconds, or under two minutes'
__stockade_option 'bench rsa' -l bits -x -d 'sizes of the key'
__stockade_option 'bench rsa' -l batch -x -d 'operations per call'
__stockade_option 'bench rsa' -l operations -x -a 'sign verify encrypt decrypt' -d 'which operations'
__stockade_option 'bench rsa' -l clients -x -d 'how many ask at a time'
__stockade_option 'bench rsa' -l queue -d 'requests as they come'
__stockade_option 'bench rsa' -l keys -d 'making and loading keys'
__stockade_option 'bench rsa' -l ablation -d 'one decryption, layer by layer'
__stockade_option 'bench rsa' -l without-ifma -d 'as on a processor without AVX-512 IFMA'
__stockade_option report -s o -l output -r -F -d 'the page'
__stockade_option report -l pictures -x -a '(__fish_complete_directories)' -d 'each picture as a file'
__stockade_option 'bench compare' -l threshold -x -d 'changes that never count'
__stockade_option 'bench file' -l only -x -a 'memory files start range many' -d questions
__stockade_option 'bench file' -l folder -x -a '(__fish_complete_directories)' -d 'where the files are made'
__stockade_option 'bench file' -l size -x -d 'of the large file'
__stockade_option 'bench studies' -l only -x -a 's1 s2 s3 s4 s5' -d studies
__stockade_option 'bench studies' -l largest -x -d 'leave out what is larger'
__stockade_option 'bench studies' -l folder -x -a '(__fish_complete_directories)' -d 'where the files are made'
__stockade_option 'bench file' -l python -r -F -d 'a python3 with pyca/cryptography'
__stockade_option tune -l full -d 'all that can be measured'
__stockade_option tune -l engine -x -a 'threads cuda' -d 'rows about the CPU or about GPUs'
__stockade_option tune -l operations -x -d 'which operations'
__stockade_option tune -l devices -x -d 'these GPUs, such as 0,2'
__stockade_option tune -l largest -x -d 'of a message'
__stockade_option tune -l folder -x -a '(__fish_complete_directories)' -d 'where files are made'
__stockade_option tune -s o -l output -r -F -d 'another profile'
__stockade_option tune -l built-in -d 'for all machines of this class'
__stockade_option tune -l anew -d 'do not go on with an interrupted run'
__stockade_option tune -l dry-run -d 'only say what would be measured'
__stockade_option tune -l show -d 'explain each choice'
__stockade_option tune -l check -d 'compare with every single way'
