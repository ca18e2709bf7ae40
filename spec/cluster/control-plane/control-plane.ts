import type { ApiConnection } from './api-connection.js';
import type { AuditLog } from './audit-log.js';
import type { Program } from './programs.js';

/** Someone the API server knows. */
export interface ClusterUser {
  /** As in the audit log and in RoleBindings. */
  readonly name: string;
  readonly groups: readonly string[];
  readonly token: string;
  readonly kubeConfigPath: string;
}

/** The processes of a control plane that we started ourselves. */
export interface ControlPlaneProcesses {
  /** Process ids by program. */
  readonly pids: ReadonlyMap<Program, number>;
  /** Process id of the one that watches over the others. */
  readonly supervisorPid: number | undefined;
  /** Sends a signal, for example SIGSTOP and SIGCONT to make a server hang for a while. */
  signal(program: Program, signal: NodeJS.Signals): Promise<void>;
  /**
   * Ends a program as a crash would, by SIGKILL; an API server only after its audit log is written.
   * (On SIGTERM an API server with clients takes over a minute.)
   */
  kill(program: Program): Promise<void>;
  /** Starts a program that was killed; returns once the API server is ready. */
  start(program: Program): Promise<void>;
}

/** A real control plane. */
export interface ControlPlane {
  /** Base URL of the API server, without a slash at its end. */
  readonly url: string;
  /** PEM of the server's certificate authority, base64, as in a kubeconfig. */
  readonly caData: string;
  /** The administrator's bearer token; empty on an existing cluster that wants a certificate. */
  readonly token: string;
  /** The administrator's kubeconfig. */
  readonly kubeConfigPath: string;
  /** Requests as the administrator, without our own client. */
  readonly api: ApiConnection;
  /** @throws Error on access: an existing cluster's audit log is out of reach. */
  readonly auditLog: AuditLog;
  /** @throws Error on access: an existing cluster's processes are out of reach. */
  readonly processes: ControlPlaneProcesses;
  /**
   * Makes a user with a token of its own, so that the audit log tells its requests apart. The same
   * name again gives another token for the same user.
   *
   * @param groups - who may do what: RBAC knows groups. @defaultValue `['system:masters']`, all
   * @throws Error: an existing cluster takes no users of ours.
   */
  user(name: string, groups?: readonly string[]): Promise<ClusterUser>;
  /** Ends every process and removes their data. An existing cluster stays as it is. */
  stop(): Promise<void>;
}
