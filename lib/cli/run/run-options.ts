import type { ClusterOptions } from '../options/cluster-options.js';
import type { LogOptions } from '../options/log-option.js';
import type { ProcessOptions } from '../options/manager-options.js';

/** Options of `operator-builder run`. */
export interface RunOptions extends ClusterOptions, ProcessOptions, LogOptions {
  /** A directory of the project. */
  readonly project: string;
  /** Namespaces to watch; undefined: all. */
  readonly namespace?: readonly string[] | undefined;
  readonly watch: boolean;
  readonly installCrds?: boolean | undefined;
  readonly webhookPort?: number | undefined;
  /** Folder with `tls.crt` and `tls.key`. */
  readonly webhookCerts?: string | undefined;
  readonly embedded?: boolean | undefined;
  readonly filename?: readonly string[] | undefined;
  readonly kubeconfigOut?: string | undefined;
  readonly port?: number | undefined;
  /** Give the operator all permissions, without its role. */
  readonly asAdmin?: boolean | undefined;
  readonly untilSettled?: boolean | undefined;
  /** In milliseconds. */
  readonly settleTimeout: number;
}
