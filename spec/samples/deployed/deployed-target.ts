import { stringify } from 'yaml';
import type { Client } from '../../../lib/client/index.js';
import type { ObjectKey, UnstructuredObject } from '../../../lib/object/kubernetes-object.js';

/** A user's request in the server's own log. */
export interface LoggedRequest {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string | undefined;
  readonly code: number;
}

/** A cluster with RBAC, over HTTP. */
export interface DeployedTarget {
  readonly admin: Client;
  readonly url: string;
  /** The server's certificate authority in base64; undefined for plain HTTP. */
  readonly caData: string | undefined;
  requestsOf(user: string): Promise<readonly LoggedRequest[]>;
  /** Routes a Service of webhooks to a port of this machine, which the Pod network cannot reach. */
  leadHere(service: ObjectKey, port: number): Promise<void>;
  close(): Promise<void>;
}

/** An operator's identity: its ServiceAccount, whose name its roles also have. */
export interface OperatorAccount {
  readonly name: string;
  readonly namespace: string;
}

/** Returns a kubeconfig with a token of the account, valid for an hour. */
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
