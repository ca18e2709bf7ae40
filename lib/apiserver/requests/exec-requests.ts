import type { WebSocket } from 'ws';
import type { Pod, UnstructuredObject } from '../../object/index.js';
import { FieldErrors } from '../../crd/internal.js';
import { WholeBody } from '../../system/index.js';
import type { TransportResponse } from '../../system/index.js';
import { refusalOf } from '../auth/authorizer.js';
import { attributesOf } from '../auth/policy-rule.js';
import { subjectOf } from '../kinds/served-kind.js';
import { findObject } from '../server-core.js';
import { badRequest, failure, internalError, invalid, notFound } from '../status-error.js';
import { admitConnection } from './request-admission.js';
import { isTrue, readInteger } from './request-info.js';
import type { ResourceRequest } from './request-info.js';
import type { ResourceContext } from './resource-handler.js';

/** Output and exit code of a command in a simulated container. */
export interface CommandResult {
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
  readonly exitCode?: number | undefined;
  /** Ends only after the client has ended the standard input. */
  readonly readsInput?: boolean | undefined;
}

/** A command for a container. */
export interface AskedCommand {
  readonly container: string;
  readonly command: readonly string[];
}

/** Answers commands in place of containers. */
export interface CommandRunner {
  /** Returns the result of a command; undefined if commands in the pod have no results. */
  answerTo(pod: Pod, asked: AskedCommand): CommandResult | undefined;
  /** Called when a command has ended; `input` is undefined if it was not read. */
  ran(
    command: AskedCommand & {
      readonly namespace: string;
      readonly name: string;
      readonly input?: string;
    },
  ): void;
}

/**
 * Returns the container that a request names. Without a name, returns the only regular container.
 * @throws StatusError 400: the pod has several containers, or none of that name.
 */
export function containerOf({ metadata, spec }: Pod, given: string | null | undefined): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec ?? {};
  const { name: pod = '' } = metadata;
  const names = [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
  const asked = given || (containers.length === 1 ? containers[0]?.name : undefined);
  if (asked === undefined) {
    const choices = `choose one of: [${names.join(' ')}]`;
    throw badRequest(`a container name must be specified for pod ${pod}, ${choices}`);
  }
  if (!names.includes(asked)) throw badRequest(`container ${asked} is not valid for pod ${pod}`);
  return asked;
}

/** The annotation with the text that `kubectl logs` prints, on the pod or in the template of its workload. */
const logAnnotation = 'operator-builder.io/pod-log';

/** Responds with the scripted log of a simulated pod; empty without the annotation. */
export function handleLog({ core, kind, info }: ResourceContext): TransportResponse {
  const { tailLines, limitBytes } = logOptions(info);
  const pod = findObject(core, kind, info) as Pod | undefined;
  if (pod === undefined) throw notFound(subjectOf(kind, info.name));
  const container = containerOf(pod, info.query.get('container'));
  // The pod is not bound to a node, so it has no log yet.
  if ((pod.spec?.nodeName ?? '') === '') {
    // The body is a stream, because a 204 must not have a Content-Length.
    return { status: 204, headers: {}, body: noContent() };
  }
  checkStarted(pod, { container, isPrevious: isTrue(info.query.get('previous')) });
  const text = pod.metadata.annotations?.[logAnnotation] ?? '';
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const shown = lines.slice(Math.max(0, lines.length - (tailLines ?? lines.length)));
  const log = Buffer.from(shown.map((line) => `${line}\n`).join('')).subarray(0, limitBytes);
  return { status: 200, headers: { 'content-type': 'text/plain' }, body: new WholeBody(log) };
}

async function* noContent(): AsyncGenerator<Uint8Array> {}

function logOptions({ query, name }: ResourceRequest) {
  const options = {
    tailLines: readInteger(query.get('tailLines')),
    limitBytes: readInteger(query.get('limitBytes')),
    sinceSeconds: readInteger(query.get('sinceSeconds')),
  };
  const errors = new FieldErrors();
  for (const [option, value] of Object.entries(options)) {
    if (option === 'sinceSeconds' && value !== undefined && query.has('sinceTime')) {
      // The real server reports `[]` as the field.
      errors.forbidden('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified');
      continue;
    }
    const least = option === 'tailLines' ? 0 : 1;
    if (value === undefined || value >= least) continue;
    errors.invalid(option, value, `must be greater than ${least === 0 ? 'or equal to ' : ''}0`);
  }
  // The selection of streams is an alpha feature.
  if (query.has('stream')) errors.forbidden('stream', 'may not be specified');
  if (errors.empty) return options;
  throw invalid({ group: '', kind: 'PodLogOptions', name }, errors.causes);
}

/**
 * Checks that a container has a log. @throws StatusError 400: the container has not started, or its previous log is
 * requested and it never restarted.
 */
function checkStarted(
  { metadata, status }: Pod,
  { container, isPrevious }: { readonly container: string; readonly isPrevious: boolean },
): void {
  const { containerStatuses = [], initContainerStatuses = [] } = status ?? {};
  const own = [...containerStatuses, ...initContainerStatuses].find(
    ({ name }) => name === container,
  );
  if (own?.lastState?.terminated !== undefined) return;
  const where = `container ${JSON.stringify(container)} in pod ${JSON.stringify(metadata.name)}`;
  if (isPrevious) throw badRequest(`previous terminated ${where} not found`);
  const { waiting } = own?.state ?? {};
  if (waiting === undefined) return;
  const why = pullProblems[waiting.reason ?? ''] ?? waiting.reason ?? '';
  throw badRequest(`${where} is waiting to start: ${why}`);
}

const pullProblems: Readonly<Partial<Record<string, string>>> = {
  ErrImagePull: "image can't be pulled",
  ImagePullBackOff: 'trying and failing to pull image',
};

const streams = ['stdin', 'stdout', 'stderr', 'tty'] as const;

/** The options of a connection to a pod, as in its query. */
interface ConnectionOptions extends Partial<Record<(typeof streams)[number], boolean>> {
  readonly container?: string;
  readonly command?: readonly string[];
  readonly ports?: readonly number[];
}

/**
 * Returns the options of a request that connects to a pod, after admission.
 * @throws StatusError 400: it is a dry run; or the error of a webhook or policy.
 */
export function connectionOptions(context: ResourceContext): ConnectionOptions {
  const { query, subresource = '' } = context.info;
  if (query.has('dryRun')) throw badRequest('dryRun is not supported');
  const object = { apiVersion: 'v1', ...optionsIn(query, subresource) };
  return admitConnection(context, object as unknown as UnstructuredObject) as ConnectionOptions;
}

function optionsIn(query: URLSearchParams, subresource: string) {
  if (subresource === 'portforward') {
    const ports = query.getAll('ports').flatMap((text) => text.split(',').map(Number));
    return { kind: 'PodPortForwardOptions', ...(ports.length > 0 && { ports }) };
  }
  const on = streams.filter((name) => isOn(query, name)).map((name) => [name, true] as const);
  const container = query.get('container') ?? '';
  const command = subresource === 'exec' ? query.getAll('command') : [];
  return {
    kind: subresource === 'exec' ? 'PodExecOptions' : 'PodAttachOptions',
    ...Object.fromEntries(on),
    ...(container !== '' && { container }),
    ...(command.length > 0 && { command }),
  };
}

export function noContainers(plural: string, subresource: string): Error {
  const message = `${plural}/${subresource}: this server simulates pods and runs no containers`;
  const remedy = subresource === 'exec' ? '; a pod rule with exec answers commands' : '';
  return failure(405, 'MethodNotAllowed', `${message}${remedy}`, {});
}

/**
 * Handles a request to run a command in a pod.
 * @returns the switch to a WebSocket whose session sends the scripted result
 * @throws StatusError 405: no script answers commands in the pod; 400: the request is not a WebSocket upgrade.
 */
export function handleExec(context: ResourceContext): TransportResponse {
  const { core, kind, info, request, user, authorizer } = context;
  const { command = [], ...options } = connectionOptions(context);
  const pod = findObject(core, kind, info) as Pod | undefined;
  if (pod === undefined) throw notFound(subjectOf(kind, info.name));
  const container = containerOf(pod, options.container);
  const result = core.commands?.answerTo(pod, { container, command });
  if (result === undefined) throw noContainers(kind.type.plural, 'exec');
  if (command.length === 0)
    throw badRequest('you must specify at least 1 command for the container');
  const { namespace, name } = info;
  if (pod.status?.phase !== 'Running') throw internalError(`container not found ("${container}")`);
  if (request.headers['upgrade']?.toLowerCase() !== 'websocket') {
    throw badRequest('Upgrade request required: this server streams over WebSockets only');
  }
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/);
  if (CommandSession.protocolOf(new Set(offered)) === undefined) {
    const got = JSON.stringify(offered.join(', '));
    throw badRequest(`unknown WebSocket protocol: want one of ${protocols.join(', ')}, got ${got}`);
  }
  // As on a real server since 1.35, a GET must not do what needs the verb `create`.
  const refusal = refusalOf(authorizer, user, attributesOf({ ...info, verb: 'create' }));
  if (refusal !== undefined) throw refusal;
  const session = new CommandSession(result, {
    stdin: options.stdin === true,
    stdout: options.stdout === true,
    // A terminal shows both outputs in one stream.
    stderr: options.tty === true ? 'stdout' : options.stderr === true && 'stderr',
    ended: (input) => {
      const read = input !== undefined && { input };
      core.commands?.ran({ namespace, name, container, command, ...read });
    },
  });
  return { status: 101, headers: {}, body: session };
}

function isOn(query: URLSearchParams, name: string): boolean {
  return !/^(?:0|false)$/i.test(query.get(name) ?? 'false');
}

interface SessionOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** The stream that receives the error output; false if the output is dropped. */
  readonly stderr: 'stdout' | 'stderr' | false;
  /** Called at the end, with the standard input if it was read. */
  readonly ended: (input: string | undefined) => void;
}

/** The first byte of each message of a session: the stream to which it belongs. */
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const;

/** The protocols of a session, best first. Only the first can end the standard input. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'] as const;

/** The longest standard input that is kept, in bytes. */
const maxInputBytes = 2 ** 20;

/** A command that a client runs over a WebSocket: the body of a response with status 101. */
export class CommandSession implements AsyncIterable<Uint8Array> {
  /** The longest message that a client may send, in bytes. */
  static readonly maxMessageBytes = maxInputBytes + 1;
  readonly #result: CommandResult;
  readonly #options: SessionOptions;
  readonly #input: Buffer[] = [];
  #inputBytes = 0;
  #isOver = false;

  constructor(result: CommandResult, options: SessionOptions) {
    this.#result = result;
    this.#options = options;
  }

  /** Returns the protocol of a session; undefined if the client offers no known protocol. */
  static protocolOf(offered: ReadonlySet<string>): string | undefined {
    return protocols.find((protocol) => offered.has(protocol));
  }

  /** Sends the result of the command. The client gets it at once, or after the end of its input. */
  serve(socket: WebSocket): void {
    // The client may vanish at any time.
    socket.on('error', () => socket.terminate());
    if (this.#result.readsInput !== true || !this.#options.stdin) {
      this.#answer(socket);
      return;
    }
    socket.on('message', (data: Buffer) => this.#receive(socket, data));
    // Clients of the older protocol can end their input only by disconnecting.
    socket.on('close', () => this.#end());
  }

  // A response needs a body. The body of a session is empty, because its data goes over the WebSocket.
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {}

  #receive(socket: WebSocket, data: Buffer): void {
    if (data[0] === channels.close && data[1] === channels.stdin) this.#answer(socket);
    if (data[0] !== channels.stdin || this.#isOver) return;
    this.#inputBytes += data.length - 1;
    if (this.#inputBytes <= maxInputBytes) {
      this.#input.push(data.subarray(1));
      return;
    }
    this.#isOver = true;
    socket.close(1009, `the standard input exceeds ${maxInputBytes} bytes`);
  }

  #answer(socket: WebSocket): void {
    if (this.#isOver) return;
    const { stdout = '', stderr = '', exitCode = 0 } = this.#result;
    const { stdout: hasOutput, stderr: errorStream } = this.#options;
    if (hasOutput && stdout !== '') send(socket, channels.stdout, stdout);
    if (errorStream !== false && stderr !== '') send(socket, channels[errorStream], stderr);
    send(socket, channels.error, JSON.stringify(statusOf(exitCode)));
    this.#end();
    socket.close(1000);
  }

  /** Records the command, once. */
  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const isRead = this.#result.readsInput === true && this.#options.stdin;
    this.#options.ended(isRead ? Buffer.concat(this.#input).toString('utf8') : undefined);
  }
}

function send(socket: WebSocket, channel: number, text: string): void {
  socket.send(Buffer.concat([Uint8Array.of(channel), Buffer.from(text, 'utf8')]));
}

/** Returns the last message of a session: how the command ended. */
function statusOf(exitCode: number): object {
  const head = { metadata: {}, status: exitCode === 0 ? 'Success' : 'Failure' };
  if (exitCode === 0) return head;
  const message = `command terminated with non-zero exit code: exit status ${exitCode}`;
  const causes = [{ reason: 'ExitCode', message: String(exitCode) }];
  return { ...head, message, reason: 'NonZeroExitCode', details: { causes } };
}
