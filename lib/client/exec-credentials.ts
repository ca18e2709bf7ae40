import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import omit from 'lodash/omit.js';
import type { Clock, Timer } from '../system/index.js';
import type { Credentials } from './credentials.js';
import { invalidKubeConfig } from './kube-config-file.js';
import type { ClusterEntry, ExecEntry, KubeConfigContext } from './kube-config-file.js';

/** A client certificate and its key, as PEM. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

interface ExecCredential {
  readonly token: string | undefined;
  readonly certificate: ClientCertificate | undefined;
  /** The wall-clock time to renew the credential; `Infinity` if the program set no expiry. */
  readonly untilMs: number;
  /** `untilMs` by the monotonic clock, in case the wall clock jumps back. */
  readonly monotonicUntilMs: number;
}

export interface ExecCredentialsOptions {
  readonly clock: Clock;
  /** Reads the certificates that the cluster's entry trusts, as PEM; undefined if it names none. */
  readonly authority: () => Promise<string | undefined>;
  /** Called when the program printed a different certificate: open connections still present the old one. */
  readonly onNewCertificate: () => Promise<void>;
}

// A token is renewed this long before it expires, so that it does not expire on its way to the server.
const marginMs = 5_000;
// If the wall clock is ahead, every credential looks expired. Without this minimum, the program would run for
// each request.
const leastUseMs = 60_000;
const longestComplaint = 300;
// A program that hangs would block every request of the client.
const timeLimitMs = 60_000;
const outputLimitBytes = 1024 * 1024;

/**
 * Credentials that a program prints (client-go's credential plugins, `client.authentication.k8s.io`). The
 * client keeps the credentials until they expire or the server rejects them. Credentials that are already
 * expired are kept for a minute, because the wall clock may be wrong. The program receives
 * `KUBERNETES_EXEC_INFO`, and no terminal. The client kills the program after 60 seconds, or if it prints
 * more than 1 MiB.
 * @throws OperatorError `InvalidKubeConfig` at a request: the program cannot be run, takes too long, fails,
 * or prints something else. The message has the end of its stderr, without possible tokens.
 */
export class ExecCredentials implements Credentials {
  readonly #context: KubeConfigContext;
  readonly #exec: ExecEntry;
  readonly #options: ExecCredentialsOptions;
  #current: ExecCredential | undefined;
  #running: Promise<ExecCredential> | undefined;

  constructor(context: KubeConfigContext, exec: ExecEntry, options: ExecCredentialsOptions) {
    this.#context = context;
    this.#exec = exec;
    this.#options = options;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const { token } = await this.#credential();
    return token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  async refresh(): Promise<void> {
    await this.#run();
  }

  /** Returns the certificate for new connections, if the program provides one. */
  async certificate(): Promise<ClientCertificate | undefined> {
    return (await this.#credential()).certificate;
  }

  async #credential(): Promise<ExecCredential> {
    const current = this.#current;
    return current !== undefined && this.#isFresh(current) ? current : this.#run();
  }

  #isFresh({ untilMs, monotonicUntilMs }: ExecCredential): boolean {
    const { clock } = this.#options;
    return clock.now() < untilMs && clock.monotonicMs() < monotonicUntilMs;
  }

  /** Runs the program once for all concurrent requests. */
  #run(): Promise<ExecCredential> {
    this.#running ??= this.#renew().finally(() => (this.#running = undefined));
    return this.#running;
  }

  async #renew(): Promise<ExecCredential> {
    const old = this.#current;
    const output = await this.#execute();
    const renewed = this.#parse(output);
    this.#current = renewed;
    if (old !== undefined && old.certificate?.cert !== renewed.certificate?.cert) {
      await this.#options.onNewCertificate();
    }
    return renewed;
  }

  async #execute(): Promise<string> {
    const { command = '', args, env, interactiveMode } = this.#exec;
    if (command === '') throw this.#invalid('exec.command is missing', 'name a program');
    if (interactiveMode === 'Always') {
      throw this.#invalid(`${command} needs a terminal`, 'use another user for an operator');
    }
    const extra = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const info = await this.#execInfo();
    const child = spawn(command, [...(args ?? [])], {
      env: { ...process.env, ...extra, KUBERNETES_EXEC_INFO: info },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [output, complaint] = [boundedText(child.stdout), boundedText(child.stderr)];
    const ended = await this.#endOf(child, output);
    if (ended.problem !== undefined) {
      // Child processes of the program may hold its pipes open.
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
      throw this.#invalid(`${command} ${ended.problem}`, 'run it by hand');
    }
    if (ended.code === 0) return output.text();
    const how = `exited with ${ended.code ?? 'a signal'}`;
    const said = withoutSecrets(complaint.text()).trim().slice(-longestComplaint);
    throw this.#invalid(`${command} ${how}: ${said}`, 'run it by hand');
  }

  async #endOf(child: ChildProcess, output: BoundedText): Promise<ProgramEnd> {
    const { command = '', installHint = 'install it, or correct exec.command' } = this.#exec;
    let timer: Timer | undefined;
    try {
      return await new Promise((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => resolve({ code, problem: undefined }));
        const problem = `did not end within ${timeLimitMs / 1_000} s`;
        timer = this.#options.clock.setTimer(() => resolve({ code: null, problem }), timeLimitMs);
        void output.whenTooLong.then(() => {
          resolve({ code: null, problem: `printed more than ${outputLimitBytes} bytes` });
        });
      });
    } catch (error) {
      throw this.#invalid(`${command} cannot be run: ${String(error)}`, installHint.trim());
    } finally {
      timer?.cancel();
    }
  }

  async #execInfo(): Promise<string> {
    const { apiVersion = '', provideClusterInfo = false } = this.#exec;
    const cluster = provideClusterInfo
      ? clusterInfo(this.#context.cluster, await this.#options.authority())
      : undefined;
    const spec = { interactive: false, ...(cluster !== undefined && { cluster }) };
    return JSON.stringify({ kind: 'ExecCredential', apiVersion, spec });
  }

  #parse(output: string): ExecCredential {
    const { command = '' } = this.#exec;
    const { kind, status } = parsed(output);
    const [token, cert, key, expiration] = statusFields.map((name) => textOf(status?.[name]));
    // The message must not contain the output: it may be the token.
    if (kind !== 'ExecCredential' || (token ?? cert ?? key) === undefined) {
      throw this.#invalid(`${command} printed no ExecCredential with a status`, 'run it by hand');
    }
    if ((cert === undefined) !== (key === undefined)) {
      const [one, other] = cert === undefined ? ['key', 'certificate'] : ['certificate', 'key'];
      throw this.#invalid(`${command} printed a ${one} without its ${other}`, 'run it by hand');
    }
    const certificate = cert === undefined || key === undefined ? undefined : { cert, key };
    return { token, certificate, ...this.#use(expiration) };
  }

  #use(expiration = ''): Pick<ExecCredential, 'untilMs' | 'monotonicUntilMs'> {
    const { clock } = this.#options;
    const expiresAtMs = Date.parse(expiration);
    if (Number.isNaN(expiresAtMs)) return { untilMs: Infinity, monotonicUntilMs: Infinity };
    const untilMs = expiresAtMs - marginMs;
    const leftMs = untilMs - clock.now();
    const nowMs = clock.monotonicMs();
    if (leftMs > 0) return { untilMs, monotonicUntilMs: nowMs + leftMs };
    return { untilMs: Infinity, monotonicUntilMs: nowMs + leastUseMs };
  }

  #invalid(reason: string, remedy: string): Error {
    return invalidKubeConfig(this.#context.source, reason, remedy);
  }
}

interface PrintedCredential {
  readonly kind?: string;
  readonly status?: Readonly<Record<string, unknown>> | null;
}

const statusFields = ['token', 'clientCertificateData', 'clientKeyData', 'expirationTimestamp'];

/** An empty string counts as absent, as in client-go. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function parsed(output: string): PrintedCredential {
  try {
    return (JSON.parse(output) ?? {}) as PrintedCredential;
  } catch {
    return {}; // The caller reports that the output is not an ExecCredential.
  }
}

/** As in client-go, the program receives the certificates themselves, in place of the path of their file. */
function clusterInfo(cluster: ClusterEntry, authority: string | undefined): object {
  const data = authority && Buffer.from(authority).toString('base64');
  const isConfig = ({ name = '' }) => name === 'client.authentication.k8s.io/exec';
  const config = cluster.extensions?.find(isConfig);
  return {
    ...omit(cluster, ['extensions', 'certificate-authority']),
    ...(data !== undefined && { 'certificate-authority-data': data }),
    ...(config !== undefined && { config: config.extension }),
  };
}

interface ProgramEnd {
  /** Null if a signal ended the program. */
  readonly code: number | null;
  /** The reason for killing the program. */
  readonly problem: string | undefined;
}

interface BoundedText {
  /** Returns the first {@link outputLimitBytes} of the output. */
  text(): string;
  /** Resolves when the output exceeds that limit; stays pending otherwise. */
  readonly whenTooLong: Promise<void>;
}

function boundedText(stream: NodeJS.ReadableStream): BoundedText {
  const chunks: Buffer[] = [];
  let length = 0;
  const whenTooLong = new Promise<void>((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      if (length <= outputLimitBytes) chunks.push(chunk);
      length += chunk.length;
      if (length > outputLimitBytes) resolve();
    });
  });
  return { whenTooLong, text: () => Buffer.concat(chunks).toString('utf8') };
}

/** Redacts possible tokens, keys and passwords: errors end up in logs. */
function withoutSecrets(text: string): string {
  return text
    .replace(/((?:password|passwd|secret|token|key)["']?\s*[=:]\s*)\S+/gi, '$1[redacted]')
    .replace(/[A-Za-z0-9+/_=-]{20,}/g, '[redacted]')
    .replace(/\p{Cc}+/gu, ' ');
}
