import { ConfigMap, deepEqual, Namespace } from '../../object/index.js';
import type { ObjectKey } from '../../object/index.js';
import { manager } from './controller-host.js';
import type { ControllerHost } from './controller-host.js';

/** The name of the ConfigMap with the certificate of the cluster's authority, in each namespace. */
export const rootCertificateName = 'kube-root-ca.crt';
const descriptionAnnotation = 'kubernetes.io/description';
const description =
  'Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.';

/**
 * The certificate of a cluster that serves no HTTPS: nothing is signed by it, and its key does not exist. Clients
 * in tests can parse it, and a cluster starts faster than with an authority of its own.
 */
const placeholder = `-----BEGIN CERTIFICATE-----
MIIBRjCB7KADAgECAhEAstjJRysUSQizEeprYFyBQDAKBggqhkjOPQQDAjAAMCAX
DTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAAMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEEf6Z65uZ5Qnh+fEx7UfYiBVZ3DXVEYFw1UGGQP3ZExcYqG2B
EpJZzBhigjlR0cTK2iyjrYcmWC/zjGTMMOo1MKNFMEMwEgYDVR0TAQH/BAgwBgEB
/wIBADAOBgNVHQ8BAf8EBAMCAgQwHQYDVR0OBBYEFKgUvLIRsu7CQNIA+G6f2NCV
v9jdMAoGCCqGSM49BAMCA0kAMEYCIQCMtuuAv4qsdt/ko7Dmy9kdtHl/HhGNwhml
QUpWJS1DWwIhALKoi5o3MTrqC/B++i/FpVyMuBNiPY0bzb/dAJ6nq4C+
-----END CERTIFICATE-----
`;

/** The certificate of a cluster's authority, which exists once the cluster listens over HTTPS. */
export class RootCertificate {
  #pem = placeholder;
  #onChange: () => void = () => undefined;

  /** The certificate in PEM format. */
  get pem(): string {
    return this.#pem;
  }

  set pem(pem: string) {
    this.#pem = pem;
    this.#onChange();
  }

  /** Calls `listener` after each change, in place of an earlier listener. */
  onChange(listener: () => void): void {
    this.#onChange = listener;
  }
}

/** Keeps the ConfigMap `kube-root-ca.crt` in each namespace, as the root-ca-cert-publisher does. */
export function startRootCertificates(host: ControllerHost, certificate: RootCertificate): void {
  const writer = host.writer(manager);
  const reconcile = async ({ name: namespace }: ObjectKey): Promise<void> => {
    const live = host.get(Namespace, { name: namespace });
    if (live === undefined || live.metadata.deletionTimestamp !== undefined) return;
    const key = { namespace, name: rootCertificateName };
    const data = { 'ca.crt': certificate.pem };
    const found = host.get(ConfigMap, key);
    const annotations = { ...found?.metadata.annotations };
    const isDescribed = (annotations[descriptionAnnotation] ?? '') !== '';
    if (isDescribed && deepEqual(found?.data, data)) return;
    annotations[descriptionAnnotation] = description;
    const metadata = { ...(found?.metadata ?? key), annotations };
    const wanted: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', ...found, metadata, data };
    await (found === undefined ? writer.create(wanted) : writer.update(wanted));
  };
  const queue = host.objectQueue(Namespace, 'root-certificates', reconcile);
  host.watch(ConfigMap, ({ type, object }) => {
    const { name, namespace = '' } = object.metadata;
    if (type !== 'ADDED' && name === rootCertificateName) queue.add({ name: namespace });
  });
  certificate.onChange(() => {
    for (const { metadata } of host.list(Namespace)) queue.add({ name: metadata.name ?? '' });
  });
}
