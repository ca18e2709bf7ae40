import type { Client } from '../../client/client.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import { missingAccess } from './missing-access.js';
import type { RequiredAccess } from './required-access.js';
import { roleManifest } from './role-manifest.js';

/** What a manager does about permissions that it lacks. */
export type PreflightMode =
  /** Does not ask. */
  | 'off'
  /** Logs the rules to add, and goes on: permissions can come later. */
  | 'warn'
  /** Its `run` rejects. */
  | 'fail';

/** Options of {@link preflight}. */
export interface PreflightOptions {
  readonly mode: PreflightMode;
  readonly client: Client;
  readonly required: readonly RequiredAccess[];
  /** Access that the operator does without: where it is missing, a warning is enough in each mode. */
  readonly wished: readonly RequiredAccess[];
  /** The name of the roles in the manifest. */
  readonly roleName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Asks whether the operator's account may do what it will try to do.
 * @throws OperatorError `MissingPermission`, in the mode `fail`: it may not; the message holds the
 * rules to add, as YAML.
 */
export async function preflight(options: PreflightOptions): Promise<void> {
  const { mode, required, wished, logger, signal } = options;
  if (mode === 'off') return;
  if (mode === 'fail') {
    const manifest = await missingRules(options, required);
    if (manifest !== undefined) throw new OperatorError('MissingPermission', manifest);
  }
  try {
    const manifest = await missingRules(
      options,
      mode === 'fail' ? wished : [...required, ...wished],
    );
    if (manifest !== undefined) logger.warn(manifest);
  } catch (error) {
    if (signal.aborted) throw error;
    logger.warn('permissions could not be reviewed', { error });
  }
}

/** The message with the rules to add; undefined: nothing is missing. */
async function missingRules(
  { client, roleName, signal }: PreflightOptions,
  access: readonly RequiredAccess[],
): Promise<string | undefined> {
  if (access.length === 0) return undefined;
  const missing = await missingAccess(client, access, signal);
  if (missing.length === 0) return undefined;
  return `permissions are missing; add these rules:\n${roleManifest(missing, roleName)}`;
}
