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
  const { mode, client, required, roleName, logger, signal } = options;
  if (mode === 'off' || required.length === 0) return;
  try {
    const missing = await missingAccess(client, required, signal);
    if (missing.length === 0) return;
    const manifest = roleManifest(missing, roleName);
    const message = `permissions are missing; add these rules:\n${manifest}`;
    if (mode === 'fail') throw new OperatorError('MissingPermission', message);
    logger.warn(message);
  } catch (error) {
    if (mode === 'fail' || signal.aborted) throw error;
    logger.warn('permissions could not be reviewed', { error });
  }
}
