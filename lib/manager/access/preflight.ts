import type { Client } from '../../client/client.js';
import type { Logger } from '../../system/logger.js';
import { OperatorError } from '../../system/operator-error.js';
import { missingAccess } from './missing-access.js';
import type { RequiredAccess } from './required-access.js';
import { roleManifest } from './role-manifest.js';

/** Reaction of a manager to missing permissions. */
export type PreflightMode =
  /** Skips the reviews. */
  | 'off'
  /** Logs the rules to add and continues: permissions may be granted later. */
  | 'warn'
  /** Rejects the manager's `run`. */
  | 'fail';

/** Options of {@link preflight}. */
export interface PreflightOptions {
  readonly mode: PreflightMode;
  readonly client: Client;
  readonly required: readonly RequiredAccess[];
  /** Optional access: if missing, every mode only logs a warning. */
  readonly wished: readonly RequiredAccess[];
  /** Name of the roles in the manifest. */
  readonly roleName: string;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * Reviews whether the operator's account has the access it needs.
 * @throws OperatorError `MissingPermission` in the mode `fail`: access is missing; the message contains the
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

/** Returns a message with the rules to add; undefined if none are missing. */
async function missingRules(
  { client, roleName, signal }: PreflightOptions,
  access: readonly RequiredAccess[],
): Promise<string | undefined> {
  if (access.length === 0) return undefined;
  const missing = await missingAccess(client, access, signal);
  if (missing.length === 0) return undefined;
  return `permissions are missing; add these rules:\n${roleManifest(missing, roleName)}`;
}
