import { isJsonObject } from '../../object/json.js';
import { jsonProblem } from '../requests/json-problem.js';
import { badRequest } from '../status-error.js';

/** The position at which a list continues. */
export interface ContinueToken {
  /**
   * The revision of the snapshot that all pages show; negative if the next page shows the then
   * current state.
   */
  readonly revision: number;
  /** The last key of the previous page. */
  readonly after: string;
}

/** Encodes a token in the real server's format, which is opaque to clients. */
export function encodeContinue({ revision, after }: ContinueToken): string {
  const token = { v: 'meta.k8s.io/v1', rv: revision, start: `${after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

/**
 * Decodes a token.
 * @throws StatusError 400: it is not a token of this server.
 */
export function decodeContinue(text: string): ContinueToken {
  const json = Buffer.from(text, 'base64url').toString('utf8');
  let token: unknown;
  try {
    token = JSON.parse(json);
  } catch {
    throw badRequest(`invalid continue token: continue key is not valid: ${jsonProblem(json)}`);
  }
  if (!isJsonObject(token) || token['v'] !== 'meta.k8s.io/v1') {
    throw badRequest(
      'invalid continue token: continue key is not valid: server does not recognize this encoded version',
    );
  }
  const { rv, start } = token;
  if (typeof rv !== 'number' || typeof start !== 'string' || !start.endsWith('\u0000')) {
    throw badRequest('invalid continue token: continue key is not valid');
  }
  return { revision: rv, after: start.slice(0, -1) };
}
