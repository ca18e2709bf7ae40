import { stringify } from 'yaml';
import type { Client } from '../../../lib/client/index.js';
import type { ObjectKey, UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

/** A request of a user, as the server's own log has it. */
export interface LoggedRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly code: number;
}

/** A cluster with RBAC, reached over HTTP. */
export interface DeployedTarget {
  readonly admin: Client;
  readonly url: string;
  /** The server's authority, base64; undefined: it speaks HTTP. */
  readonly caData: string | undefined;
  requestsOf(user: string): Promise<readonly LoggedRequest[]>;
  /** Makes a Service of webhooks lead to a port of this machine, which no network of Pods reaches. */
  leadHere(service: ObjectKey, port: number): Promise<void>;
  close(): Promise<void>;
}

/** Who an operator is: its ServiceAccount, which its roles are named by, too. */
export interface OperatorAccount {
  readonly name: string;
  readonly namespace: string;
}

/** A kubeconfig with a token of the account, valid for an hour. */
export async function kubeConfigOf(
  { admin, url: server, caData }: Pick<DeployedTarget, 'admin' | 'url' | 'caData'>,
  account: OperatorAccount,
): Promise<string> {
  const token = await tokenOf(admin, account);
  const authority = caData === undefined ? {} : { 'certificate-authority-data': caData };
  return stringify({
    ...{ apiVersion: 'v1', kind: 'Config', 'current-context': 'spec' },
    clusters: [{ name: 'spec', cluster: { server, ...authority } }],
    users: [{ name: 'spec', user: { token } }],
    contexts: [{ name: 'spec', context: { cluster: 'spec', user: 'spec' } }],
  });
}

async function tokenOf(admin: Client, { name, namespace }: OperatorAccount): Promise<string> {
  const answer = await admin.create<UnstructuredObject>(
    {
      ...{ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest' },
      ...{ metadata: { name, namespace }, spec: { expirationSeconds: 3600 } },
    },
    { subresource: 'token', parent: { apiVersion: 'v1', kind: 'ServiceAccount' } },
  );
  return (answer['status'] as { token: string }).token;
}
