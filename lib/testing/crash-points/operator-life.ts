import type { CallOptions, Client, WriteOptions, FailingFault } from '../../client/index.js';
import { errorOf } from '../../client/index.js';
import type { KubernetesObject, ObjectKey, ObjectList, TypeReference } from '../../object/index.js';
import { apiVersionOf, groupOf } from '../../object/index.js';
import { reconcileWatch } from '../../controller/index.js';
import { faults } from '../fault-on.js';
import type { CrashRequest, Interruption, RequestFailure } from './crash-point.js';
import { Handlers, killed } from './handlers.js';

/** Options of an {@link OperatorLife}. */
interface OperatorLifeOptions {
  readonly client: Client;
  readonly trace: RequestTrace;
  /** The way in which the operator dies, or in which the request fails. */
  readonly mode: Interruption['mode'];
}

/** Functions that send a call. */
interface Sending<T> {
  /** Sends the call. @param last - true for the call of the crash, which no signal may abort */
  readonly send: (last: boolean) => Promise<T>;
  /** Returns true if the answer shows that an object was created. @defaultValue always false */
  readonly wasCreated?: (answer: T) => boolean;
}

/**
 * One process of the operator, from the view of the cluster: a client and a signal. After its death, the
 * client sends nothing; the operator's code unwinds without an effect on the cluster.
 */
export class OperatorLife {
  readonly client: Client;
  readonly handlers = new Handlers();
  readonly #stop = new AbortController();
  readonly #trace: RequestTrace;
  readonly #mode: Interruption['mode'];
  #isDead = false;

  constructor({ client, trace, mode }: OperatorLifeOptions) {
    this.#trace = trace;
    this.#mode = mode;
    this.client = mortalClient(client, this);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** Runs the operator. Reconciles that begin within `operator` are added to `handlers`. */
  run(operator: () => Promise<void>): Promise<void> {
    const watch = this.handlers.began.bind(this.handlers);
    return reconcileWatch.run(watch, () => Promise.resolve().then(operator));
  }

  /** Ends the operator: its client sends nothing from now on, and its signals are aborted. */
  kill(): void {
    this.#isDead = true;
    this.#stop.abort();
    this.handlers.abort();
  }

  /** Checks that the operator lives. @throws OperatorError `Stopped`: it is dead. */
  check(): void {
    if (this.#isDead) throw killed();
  }

  /** Sends a call, which can be the last one. */
  async call<T>(call: TracedCall, { send, wasCreated = () => false }: Sending<T>): Promise<T> {
    if (this.#trace.isHot) this.kill();
    this.check();
    const request = this.#trace.add(call);
    const { isHit } = request;
    const failure = isHit && isFailure(this.#mode) ? failures[this.#mode] : undefined;
    const sendNoted = async (): Promise<T> => {
      const answer = await send(isHit && failure === undefined);
      if (wasCreated(answer)) request.created();
      return answer;
    };
    try {
      if (failure !== undefined) return await fail(call, failure, sendNoted);
      return await (isHit ? this.#die(sendNoted) : sendNoted());
    } finally {
      request.ended();
    }
  }

  async #die<T>(send: () => Promise<T>): Promise<T> {
    const mode = this.#mode;
    // Stops concurrent calls that have not been sent yet.
    if (mode !== 'answered') this.#isDead = true;
    const answer = mode === 'before' ? undefined : await outcomeOf(send());
    this.#isDead = true;
    // Deferred, so that the operator receives the answer first.
    queueMicrotask(() => this.kill());
    if (mode !== 'answered' || answer === undefined) throw killed();
    return answer();
  }
}

interface Failure {
  readonly fault: FailingFault;
  readonly when: 'before' | 'after';
}

const failures: Readonly<Record<RequestFailure, Failure>> = {
  conflict: { fault: faults.conflict(), when: 'before' },
  serverError: { fault: faults.serverError(), when: 'before' },
  resetBefore: { fault: faults.reset(), when: 'before' },
  resetAfter: { fault: faults.reset(), when: 'after' },
  timeout: { fault: faults.timeout(), when: 'before' },
};

/** Returns true if `mode` makes a request fail without a crash of the operator. */
export function isFailure(mode: Interruption['mode']): mode is RequestFailure {
  return Object.hasOwn(failures, mode);
}

async function fail<T>(
  { verb, type, namespace, name }: TracedCall,
  { fault, when }: Failure,
  send: () => Promise<T>,
): Promise<never> {
  if (when === 'after') await outcomeOf(send());
  throw errorOf(fault, { verb, kind: type.kind, namespace, name }, when);
}

/** Waits until a promise is settled. Returns a function that returns its value or throws its error. */
async function outcomeOf<T>(promise: Promise<T>): Promise<() => T> {
  try {
    const value = await promise;
    return () => value;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Creates a client that dies with `life`. It traces every request except watches and discovery. */
function mortalClient(client: Client, life: OperatorLife): Client {
  return {
    resourceType: async (type) => {
      life.check();
      return client.resourceType(type);
    },
    get: (type, key, options) =>
      life.call(
        { verb: 'get', type, ...keyOf(key), ...subresourceOf(options) },
        { send: (last) => client.get(type, key, sent(options, last)) },
      ),
    list: (type, options) =>
      life.call(
        { verb: 'list', type, namespace: options?.namespace },
        { send: (last) => client.list(type, sent(options, last)) },
      ),
    pages: (type, options) => {
      const pages = client.pages(type, options)[Symbol.asyncIterator]();
      const call = { verb: 'list', type, namespace: options?.namespace } as const;
      return pagesUntilLast(() => life.call(call, { send: () => pages.next() }));
    },
    watch: async function* (type, options) {
      life.check();
      for await (const event of client.watch(type, endingWith(life, options ?? {}))) {
        life.check();
        yield event;
      }
    },
    stream: async function* (type, key, options) {
      life.check();
      for await (const bytes of client.stream(type, key, endingWith(life, options))) {
        life.check();
        yield bytes;
      }
    },
    ...mortalWrites(client, life),
  };
}

function endingWith<O extends CallOptions>(life: OperatorLife, options: O): O {
  const { signal } = options;
  if (signal === undefined) return { ...options, signal: life.signal };
  return { ...options, signal: AbortSignal.any([signal, life.signal]) };
}

type Writes = Pick<Client, 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection'>;

function mortalWrites(client: Client, life: OperatorLife): Writes {
  return {
    create: (object, options) =>
      life.call(callFor('create', object, options), {
        send: (last) => client.create(object, sent(options, last)),
        wasCreated: () => options?.subresource === undefined,
      }),
    update: (object, options) =>
      life.call(callFor('update', object, options), {
        send: (last) => client.update(object, sent(options, last)),
      }),
    patch: (type, key, patch, options) =>
      life.call(
        { verb: 'patch', type, ...keyOf(key), ...writeOf(options) },
        { send: (last) => client.patch(type, key, patch, sent(options, last)) },
      ),
    apply: (object, options) =>
      life.call(callFor('apply', object, options), {
        send: (last) => client.apply(object, sent(options, last)),
        wasCreated: ({ created }) => created,
      }),
    delete: (type, key, options) =>
      life.call(
        { verb: 'delete', type, ...keyOf(key), ...writeOf(options) },
        { send: (last) => client.delete(type, key, sent(options, last)) },
      ),
    deleteCollection: (type, options) =>
      life.call(
        { verb: 'deletecollection', type, namespace: options?.namespace, ...writeOf(options) },
        { send: (last) => client.deleteCollection(type, sent(options, last)) },
      ),
  };
}

/** Skips the last `next` of an iterator, which would send no request. */
async function* pagesUntilLast<T extends KubernetesObject>(
  next: () => Promise<IteratorResult<ObjectList<T>, unknown>>,
): AsyncGenerator<ObjectList<T>> {
  for (;;) {
    const page = await next();
    if (page.done === true) return;
    yield page.value;
    if ((page.value.metadata.continue ?? '') === '') return;
  }
}

/** Removes the signal of the last call: that request arrives in any case, so no signal may abort it. */
function sent<O extends CallOptions>(options: O | undefined, last: boolean): O | undefined {
  return last && options !== undefined ? { ...options, signal: undefined } : options;
}

function callFor(
  verb: 'create' | 'update' | 'apply',
  object: KubernetesObject,
  options: WriteOptions | undefined,
): TracedCall {
  const { apiVersion, kind, metadata } = object;
  const { namespace, generateName } = metadata;
  const name = metadata.name ?? (generateName === undefined ? undefined : `${generateName}*`);
  return { verb, type: { apiVersion, kind }, namespace, name, ...writeOf(options) };
}

function writeOf(
  options: Pick<WriteOptions, 'subresource' | 'dryRun'> | undefined,
): Pick<TracedCall, 'subresource' | 'dryRun'> {
  return { ...subresourceOf(options), dryRun: options?.dryRun };
}

function subresourceOf(options: Pick<WriteOptions, 'subresource'> | undefined): {
  readonly subresource?: string;
} {
  return options?.subresource === undefined ? {} : { subresource: options.subresource };
}

function keyOf({ namespace, name }: ObjectKey): ObjectKey {
  return { namespace, name };
}

/** A call of a client, before it is sent. */
interface TracedCall {
  readonly verb: keyof Client | 'deletecollection';
  readonly type: TypeReference<KubernetesObject>;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A request under way; the sender reports its result here. */
interface TracedRequest {
  /** True if the run is interrupted at this request. */
  readonly isHit: boolean;
  created(): void;
  ended(): void;
}

const hotLoop = 500;
const writing = ['create', 'update', 'patch', 'apply', 'delete', 'deletecollection'];

/** Returns true if objects of `type` are never stored, only answered: access and token reviews. */
function isQuestion(type: TypeReference<KubernetesObject>): boolean {
  const group = groupOf(apiVersionOf(type));
  return group === 'authorization.k8s.io' || group === 'authentication.k8s.io';
}

/** Records the requests of all operator processes of one run, and counts those under way. */
export class RequestTrace {
  readonly #point: Interruption | undefined;
  readonly #ignoredKinds: readonly string[];
  readonly #requests: CrashRequest[] = [];
  #step = '';
  #inStep = 0;
  #underWay = 0;
  #progress = 0;
  #thisMoment = 0;
  #interruptedAt: CrashRequest | undefined;

  constructor(point: Interruption | undefined, ignoredKinds: readonly string[]) {
    this.#point = point;
    this.#ignoredKinds = ignoredKinds;
  }

  get requests(): readonly CrashRequest[] {
    return this.#requests;
  }

  get writes(): readonly CrashRequest[] {
    return this.#requests.filter(({ write }) => write);
  }

  get isIdle(): boolean {
    return this.#underWay === 0;
  }

  /** A number that grows when a request begins or ends. */
  get progress(): number {
    return this.#progress;
  }

  /**
   * True if the operator sent too many requests without any time passing. In one process, such requests can
   * follow so fast that no other work gets a turn.
   */
  get isHot(): boolean {
    return this.#thisMoment > hotLoop;
  }

  timePasses(): void {
    this.#thisMoment = 0;
  }

  /** The request at which the operator died, or that failed. */
  get interruptedAt(): CrashRequest | undefined {
    return this.#interruptedAt;
  }

  /** Assigns the following requests to `step`. */
  begin(step: string): void {
    this.#step = step;
    this.#inStep = 0;
  }

  /** Records a request that is about to be sent. */
  add(call: TracedCall): TracedRequest {
    const { verb, type, dryRun = false, ...target } = call;
    this.#underWay += 1;
    this.#progress += 1;
    this.#thisMoment += 1;
    const ended = (): void => {
      this.#underWay -= 1;
      this.#progress += 1;
    };
    if (this.#ignoredKinds.includes(type.kind)) {
      return { isHit: false, created: () => undefined, ended };
    }
    this.#inStep += 1;
    const at = this.#requests.length;
    const request: CrashRequest = {
      ...{ step: this.#step, request: this.#inStep, verb, kind: type.kind, ...target },
      ...{ apiVersion: apiVersionOf(type), created: false },
      write: writing.includes(verb) && !dryRun && !isQuestion(type),
    };
    this.#requests.push(request);
    const isHit = this.#isHit(request);
    if (isHit) this.#interruptedAt = request;
    const created = (): void => void (this.#requests[at] = { ...request, created: request.write });
    return { isHit, created, ended };
  }

  #isHit({ step, request }: CrashRequest): boolean {
    if (this.#interruptedAt !== undefined) return false;
    return this.#point?.step === step && this.#point.request === request;
  }
}
