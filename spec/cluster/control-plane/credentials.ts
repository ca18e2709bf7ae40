import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { fileNames } from './commands.js';
import { writeKubeConfig } from './kube-config.js';
import type { Program } from './programs.js';

/** Programs that use the API server. */
export const apiClients = ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const;

/** User names and tokens that the API server accepts from its start. */
export interface Credentials {
  readonly adminToken: string;
  readonly programTokens: Readonly<Record<(typeof apiClients)[number], string>>;
}

/** User name of a program in the audit log. */
export function userOfProgram(program: Program): string {
  return `system:${program}`;
}

/** Returns a new bearer token. */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * Writes the files that the API server reads at start: tokens, the key pair for service account
 * tokens, the audit policy and the address for TokenReviews.
 */
export async function writeApiServerFiles(
  folder: string,
  tokenReviewPort: number,
): Promise<Credentials> {
  const credentials: Credentials = {
    adminToken: newToken(),
    programTokens: {
      'kube-controller-manager': newToken(),
      'kube-scheduler': newToken(),
      kwok: newToken(),
    },
  };
  const write = (name: string, text: string | Buffer) =>
    writeFile(join(folder, name), text, { mode: 0o600 });
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await Promise.all([
    write(fileNames.tokens, tokenFile(credentials)),
    write(fileNames.auditPolicy, auditPolicy()),
    write(fileNames.serviceAccountPublic, publicKey.export({ type: 'spki', format: 'pem' })),
    write(fileNames.serviceAccountPrivate, privateKey.export({ type: 'sec1', format: 'pem' })),
    writeKubeConfig(join(folder, fileNames.tokenReview), {
      url: `http://127.0.0.1:${tokenReviewPort}`,
      userName: 'kube-apiserver',
      token: newToken(),
    }),
  ]);
  return credentials;
}

/**
 * Returns a line for each user: token, user name, user id and groups. All are in `system:masters`, because the RBAC
 * role of the controller manager does not suffice for it.
 */
function tokenFile({ adminToken, programTokens }: Credentials): string {
  const users = apiClients.map((name) => [programTokens[name], userOfProgram(name)] as const);
  return [[adminToken, 'admin'] as const, ...users]
    .map(([token, name]) => `${token},${name},${name},"system:masters"\n`)
    .join('');
}

function auditPolicy(): string {
  return stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [{ level: 'Metadata' }],
  });
}
