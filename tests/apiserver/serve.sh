# Runs etcd and kube-apiserver until stdin ends, which it does with the test run, however that ends. Then removes their folder.
#     serve.sh <etcd> <kube-apiserver> <folder> <port of the server> <etcd's ports, for clients and for peers>
folder=$3
"$1" --data-dir "$folder/etcd" --log-level error \
  --listen-client-urls "http://127.0.0.1:$5" --advertise-client-urls "http://127.0.0.1:$5" \
  --listen-peer-urls "http://127.0.0.1:$6" --initial-advertise-peer-urls "http://127.0.0.1:$6" \
  --initial-cluster "default=http://127.0.0.1:$6" >"$folder/etcd.log" 2>&1 &
etcd=$!
"$2" --etcd-servers "http://127.0.0.1:$5" --bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$4" \
  --tls-cert-file "$folder/server.pem" --tls-private-key-file "$folder/server.key" --cert-dir "$folder" \
  --token-auth-file "$folder/tokens" --authorization-mode AlwaysAllow --anonymous-auth=false \
  --service-account-issuer https://kubernetes.default.svc \
  --service-account-key-file "$folder/server.pem" --service-account-signing-key-file "$folder/server.key" \
  --service-cluster-ip-range 10.96.0.0/16 --endpoint-reconciler-type none \
  --disable-admission-plugins ServiceAccount >"$folder/server.log" 2>&1 &
server=$!
trap 'kill -9 $server $etcd 2>/dev/null; wait; rm -rf "$folder"' EXIT
trap 'exit 1' INT TERM HUP
cat >/dev/null
