import { writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';

/** Fields of a generated kubeconfig. */
export interface KubeConfigOptions {
  readonly url: string;
  /** The server's authority: PEM in base64. Without it the server is not verified (plain http). */
  readonly caData?: string;
  readonly userName: string;
  readonly token: string;
}

/** Writes a kubeconfig with one cluster and one user, readable only by its owner. */
export async function writeKubeConfig(path: string, options: KubeConfigOptions): Promise<void> {
  const { url, caData, userName, token } = options;
  const cluster = caData === undefined ? {} : { 'certificate-authority-data': caData };
  const name = 'control-plane';
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: url, ...cluster } }],
    users: [{ name: userName, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: userName } }],
    'current-context': name,
  };
  await writeFile(path, stringify(config), { mode: 0o600 });
}
