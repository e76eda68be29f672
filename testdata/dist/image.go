package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"
)

// object is JSON of the OCI image specification.
type object = map[string]any

const ociPrefix = "application/vnd.oci.image."

// writeImage writes an OCI archive: from scratch, with the program and nothing else, for a user who is not root.
func writeImage(out string, platforms []string) error {
	work, err := os.MkdirTemp("", "snowglobe-image-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var files []file
	blob := func(kind string, body []byte) object {
		digest := fmt.Sprintf("%x", sha256.Sum256(body))
		files = append(files, file{"blobs/sha256/" + digest, body, 0o644})
		return object{"mediaType": ociPrefix + kind, "digest": "sha256:" + digest, "size": len(body)}
	}
	encode := func(o object) []byte {
		text, err := json.Marshal(o)
		if err != nil {
			log.Fatal(err) // cannot happen with strings, numbers, lists and maps
		}
		return text
	}
	var manifests []object
	for _, platform := range platforms {
		path, err := build(work, platform, "")
		if err != nil {
			return err
		}
		program, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		about, err := materials(path)
		if err != nil {
			return err
		}
		layer, err := packTar(append([]file{{"snowglobe", program, 0o755}}, about...))
		if err != nil {
			return err
		}
		z, err := gzip.NewReader(bytes.NewReader(layer))
		if err != nil {
			return err
		}
		plain := new(bytes.Buffer)
		if _, err := plain.ReadFrom(z); err != nil {
			return err
		}
		system, processor, _ := strings.Cut(platform, "/")
		config := blob("config.v1+json", encode(object{
			"architecture": processor, "os": system, "created": time.Unix(0, 0).UTC().Format(time.RFC3339),
			"config": object{
				"User": "65532:65532", "Entrypoint": []string{"/snowglobe"}, "ExposedPorts": object{"9650/tcp": object{}, "9652/tcp": object{}},
				"Cmd":         []string{"serve", "--db", ":memory:", "--addr", "0.0.0.0:9650", "--fuji-addr", "0.0.0.0:9652"},
				"Healthcheck": object{"Test": []string{"CMD", "/snowglobe", "healthcheck"}, "Interval": 5_000_000_000},
			},
			"rootfs": object{"type": "layers", "diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(plain.Bytes()))}},
		}))
		manifest := blob("manifest.v1+json", encode(object{
			"schemaVersion": 2, "mediaType": ociPrefix + "manifest.v1+json", "config": config, "layers": []object{blob("layer.v1.tar+gzip", layer)},
		}))
		manifest["platform"] = object{"os": system, "architecture": processor}
		manifest["annotations"] = object{"org.opencontainers.image.ref.name": "latest", "io.containerd.image.name": "docker.io/library/snowglobe:latest"}
		manifests = append(manifests, manifest)
	}
	files = append(files,
		file{"oci-layout", encode(object{"imageLayoutVersion": "1.0.0"}), 0o644},
		file{"index.json", encode(object{"schemaVersion": 2, "mediaType": ociPrefix + "index.v1+json", "manifests": manifests}), 0o644})
	archive, err := os.Create(out)
	if err != nil {
		return err
	}
	w := tar.NewWriter(archive)
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.body)), ModTime: time.Unix(0, 0), Format: tar.FormatUSTAR}); err != nil {
			return err
		}
		if _, err := w.Write(f.body); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return archive.Close()
}
