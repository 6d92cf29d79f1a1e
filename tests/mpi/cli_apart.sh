#!/usr/bin/env bash
# stockade-mpi on machines that have nothing in common but a network and a folder: two network namespaces, each with a
# host name and a /dev/shm of its own.
#
# usage: cli_apart.sh IMPLEMENTATION MPIRUN STOCKADE_MPI STOCKADE
# Exit status 77: there are no namespaces for this user.
source "$(dirname "$0")/cli_launch.sh"

first=stockade-$$-a second=stockade-$$-b
network=10.$((64 + $$ % 64)).$(($$ / 64 % 256))
remove_namespaces() {
  ip netns del "$first"
  ip netns del "$second"
} 2>/dev/null
trap 'remove_namespaces; rm -rf "$scratch"' EXIT
{
  ip netns add "$first" && ip netns add "$second" &&
    ip link add stk$$a netns "$first" type veth peer name stk$$b netns "$second" &&
    ip -n "$first" addr add "$network.1/24" dev stk$$a && ip -n "$second" addr add "$network.2/24" dev stk$$b &&
    ip -n "$first" link set lo up && ip -n "$second" link set lo up &&
    ip -n "$first" link set stk$$a up && ip -n "$second" link set stk$$b up &&
    ip netns exec "$first" unshare --uts --mount true
} 2>/dev/null || {
  echo "no network namespaces for this user"
  exit 77
}
# MPICH finds an interface only once it runs, and the kernel says up to a second later that these do.
for pair in "$first stk$$a" "$second stk$$b"; do
  read -r namespace interface <<<"$pair"
  for _ in {1..250}; do
    [[ $(ip -n "$namespace" -o link show "$interface") == *"state UP"* ]] && break
    sleep 0.02
  done
done

# A remote shell into the namespace that has the address.
cat >agent <<SCRIPT
#!/usr/bin/env bash
while [[ \$1 == -* ]]; do shift; done
[[ \$1 == $network.1 ]] && name=$first || name=$second
shift
cd $scratch/\$name
exec ip netns exec \$name unshare --uts --mount \
  bash -c 'mount -t tmpfs none /dev/shm; hostname "\$0"; eval "\$*"' \$name "\$@"
SCRIPT
chmod +x agent
# Folders of their own, too: only whole paths mean the same to both.
mkdir "$first" "$second"
if [[ $implementation == openmpi ]]; then
  launch=(--mca plm_rsh_agent "$scratch/agent" --mca oob_tcp_if_include "$network.0/24"
    --mca btl_tcp_if_include "$network.0/24" --host "$network.1:1,$network.2:3" --oversubscribe --bind-to none)
else
  launch=(-launcher ssh -launcher-exec "$scratch/agent" -iface stk$$a -hosts "$network.1:1,$network.2:3")
  export UCX_TLS=tcp,self
fi
launcher=$mpirun
cat >launch <<SCRIPT
#!/usr/bin/env bash
exec "$scratch/agent" "$network.1" "cd \$PWD; exec \$(printf '%q ' "$launcher" "\$@")"
SCRIPT
chmod +x launch
mpirun=$scratch/launch

begin apart
head -c 30000011 /dev/urandom >in
for ranks in 2 4; do
  for schedule in '' '--schedule dynamic'; do
    run "$ranks" encrypt -v -f -k "$PWD/key" "$PWD/in" $schedule
    expect_status 0
    grep -q "^stockade: note: $ranks ranks on 2 machines" err || fail "the ranks are not on two machines"
    "$stockade" decrypt -q -f -k key in.stk -o back && expect_same in back
  done
  run "$ranks" decrypt -f -k "$PWD/key" "$PWD/in.stk" -o "$PWD/back"
  expect_status 0
  expect_same in back
done
finish
