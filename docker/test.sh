#!/usr/bin/env bash
# Build the image and train in two containers of it, as compose.yaml says: as root, on Debian.
# Instead of the image that the Dockerfile names, a small Debian made here is its base.
set -euo pipefail
cd "$(dirname "$0")/.."

apt-get install --quiet --yes --no-install-recommends \
    aardvark-dns buildah catatonit debootstrap iptables netavark podman runc > /dev/null
folder=$(mktemp --directory)
compose() { .venv/bin/podman-compose --file docker/compose.yaml "$@"; }
clean() {
    compose down --volumes || true
    podman rmi --force tfdist tfdist-base || true
    rm --recursive --force "$folder"
} > /dev/null 2>&1
trap clean EXIT

cat > "$folder/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:$(ulimit -Hn)", "nproc=1024:1024"]
[network]
network_backend = "netavark"
[engine]
runtime = "runc"
[engine.runtimes]
runc = ["$(command -v runc)"]
END
export CONTAINERS_CONF="$folder/containers.conf"

echo "making the base"
debootstrap --variant=minbase --include=python3-venv bookworm "$folder/base" > "$folder/base.log"
install -D /etc/ssl/certs/ca-certificates.crt "$folder/base/etc/ssl/certs/ca-certificates.crt"
chroot "$folder/base" python3 -m venv /opt/python
tar --create --directory="$folder/base" . | podman import --quiet \
    --change 'ENV PATH=/opt/python/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    --change 'ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt' - tfdist-base

echo "building the image"
buildah bud --quiet --isolation=chroot --format=docker --from=localhost/tfdist-base \
    --file=docker/Dockerfile --ignorefile=docker/Dockerfile.dockerignore --tag=tfdist .
podman image inspect --format '{{.Size}} bytes, user {{.User}}' tfdist

echo "training in two containers"
compose up --detach --no-build
for worker in worker0 worker1; do
    container=$(podman ps --all --quiet --filter "name=tfdist_${worker}_")
    code=$(timeout 300 podman wait "$container")
    podman logs "$container" 2> /dev/null | tail --lines=1 | tee "$folder/$worker"
    [ "$code" = 0 ] || { podman logs "$container"; exit 1; }
done
.venv/bin/python - "$folder"/worker? <<'END'
import json, sys
records = [json.load(open(file)) for file in sys.argv[1:]]
first, second = (record["weights_digest"] for record in records)
assert first == second, "the two workers have other weights"
assert records[0]["val_accuracy"] > 0.9, "the digits were not learned"
END
