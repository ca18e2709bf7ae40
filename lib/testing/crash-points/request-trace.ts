import type { Client } from '../../client/client.js';
import type { KubernetesObject } from '../../object/kubernetes-object.js';
import { apiVersionOf, groupOf } from '../../object/resource-type.js';
import type { TypeReference } from '../../object/resource-type.js';
import type { CrashRequest, Interruption } from './crash-point.js';

/** A call of a client, before it is sent. */
export interface TracedCall {
  readonly verb: keyof Client | 'deletecollection';
  readonly type: TypeReference<KubernetesObject>;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** A request under way; the sender reports its result here. */
export interface TracedRequest {
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
    this.#thisMoment += 1;
    const ended = (): void => void (this.#underWay -= 1);
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
