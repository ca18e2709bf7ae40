import type { ApiConnection } from './api-connection.js';
import type { AuditLog } from './audit-log.js';
import type { Program } from './programs.js';

/** A user of the API server. */
export interface ClusterUser {
  /** Name in the audit log and in RoleBindings. */
  readonly name: string;
  readonly groups: readonly string[];
  readonly token: string;
  readonly kubeConfigPath: string;
}

/** Processes of a control plane that this process started. */
export interface ControlPlaneProcesses {
  /** Process ids by program. */
  readonly pids: ReadonlyMap<Program, number>;
  /** Process id of the supervisor. */
  readonly supervisorPid: number | undefined;
  /** Base URL of etcd, without a trailing slash. It accepts requests without credentials. */
  readonly etcdUrl: string;
  /** Sends a signal, for example SIGSTOP and SIGCONT to suspend a server for a while. */
  signal(program: Program, signal: NodeJS.Signals): Promise<void>;
  /**
   * Ends a program like a crash, by SIGKILL; an API server only after its audit log is written.
   * (On SIGTERM an API server with clients takes over a minute.)
   */
  kill(program: Program): Promise<void>;
  /** Restarts a killed program; resolves once the API server is ready. */
  start(program: Program): Promise<void>;
  /**
   * Drops the history of objects: compacts etcd, and restarts the API server, so that its watch caches
   * start at the present version.
   */
  compact(): Promise<void>;
}

/** A real control plane. */
export interface ControlPlane {
  /** Base URL of the API server, without a trailing slash. */
  readonly url: string;
  /** The server's certificate authority: PEM in base64, as in a kubeconfig. */
  readonly caData: string;
  /** The administrator's bearer token; empty on an existing cluster that requires a certificate. */
  readonly token: string;
  /** The administrator's kubeconfig. */
  readonly kubeConfigPath: string;
  /** Connection as the administrator, without the client under test. */
  readonly api: ApiConnection;
  /** @throws Error on access: the audit log of an existing cluster is not accessible. */
  readonly auditLog: AuditLog;
  /** @throws Error on access: the processes of an existing cluster are not accessible. */
  readonly processes: ControlPlaneProcesses;
  /**
   * Creates a user with its own token, so that the audit log distinguishes its requests. The same
   * name again returns another token for the same user.
   * @param groups - groups for RBAC. @defaultValue `['system:masters']`, with all permissions
   * @throws Error: an existing cluster accepts no such users.
   */
  user(name: string, groups?: readonly string[]): Promise<ClusterUser>;
  /** Ends every process and removes their data. An existing cluster is not changed. */
  stop(): Promise<void>;
}
