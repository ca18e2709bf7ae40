import type { CoreV1Event } from '@kubernetes/client-node';
import { formatMicroTime, formatTime, isApiError, subdomainProblems } from '../../object/index.js';
import type { KubernetesObject, ResourceType, Wire } from '../../object/index.js';
import { LruMap, SpamFilter } from '../../system/index.js';
import type { ControllerHost } from './controller-host.js';
import type { WorkQueue } from './work-queue.js';

/** `v1` Event: Events of `v1` and of `events.k8s.io/v1` are stored in this form. */
type CoreEvent = Wire<CoreV1Event> & KubernetesObject;

const coreEvent: ResourceType<CoreEvent> = {
  ...{ group: '', version: 'v1', kind: 'Event', plural: 'events', namespaced: true },
};

/** The component that reports an event. */
export interface EventSource {
  /** The name in `source.component`, for example `deployment-controller`. */
  readonly component: string;
  /** The node of a kubelet. */
  readonly node?: string | undefined;
  /** The field manager of the Events. @defaultValue 'kube-controller-manager' */
  readonly manager?: string | undefined;
}

/** An event of a controller. */
export interface ControllerEvent {
  readonly about: KubernetesObject;
  /** The part of the object, for example `spec.containers{web}`. */
  readonly fieldPath?: string | undefined;
  /** The type of the Event. @defaultValue 'Normal' */
  readonly type?: 'Normal' | 'Warning' | undefined;
  readonly reason: string;
  readonly message: string;
  /** The action, for components that use `events.k8s.io/v1`, as kube-scheduler does. */
  readonly action?: string | undefined;
}

/** Records an event of one component; see {@link ControllerEvents}. */
export type RecordEvent = (event: ControllerEvent) => void;

/** An Event that was recorded and may repeat. */
interface Entry {
  readonly key: string;
  readonly manager: string;
  readonly event: CoreEvent;
  /** The time of the last repetition, in milliseconds since 1970. */
  readonly atMs: number;
  /** True if the controller no longer counts repetitions of the Event, which is to be deleted. */
  readonly forgotten: boolean;
}

/** The messages of one reason that an object has had lately. */
interface Topic {
  readonly messages: Set<string>;
  readonly atMs: number;
}

// As in client-go: the number of objects and Events to keep in memory.
const capacity = 4_096;
// As in client-go: similar events are combined into one once they have this number of messages.
const maxMessages = 10;
const combineMs = 600_000;
const lifeMs = 3_600_000;

/**
 * Writes Events as the components of a cluster do.
 *
 * Guarantees, as in client-go: a repeated event increases the count of its Event. The tenth message of one reason
 * and all later ones share one Event, `(combined from similar events)`. An object may have 25 events of one
 * component and type in one burst, then one every five minutes. The server keeps the latest 4,096 Events of its
 * components, each for an hour after its last repetition.
 *
 * Caveat: Events that the server refuses are lost, for example in a namespace that is being deleted.
 */
export class ControllerEvents {
  readonly #host: ControllerHost;
  readonly #filter = new SpamFilter({ burst: 25, refillMs: 300_000, capacity });
  readonly #topics = new LruMap<string, Topic>(capacity);
  readonly #entries = new LruMap<string, Entry>(capacity);
  #queue: WorkQueue<Entry> | undefined;
  #count = 0;

  constructor(host: ControllerHost) {
    this.#host = host;
  }

  /** Starts to write Events. Earlier events are dropped. */
  start(): void {
    const idOf = ({ event }: Entry): string =>
      `${event.metadata.namespace ?? ''}/${event.metadata.name ?? ''}`;
    this.#queue = this.#host.queue('events', (entry) => this.#write(entry), idOf);
  }

  /** Returns the function by which a component records its events. */
  from(source: EventSource): RecordEvent {
    return (event) => this.#record(source, event);
  }

  #record(source: EventSource, given: ControllerEvent): void {
    if (this.#queue === undefined) return;
    const nowMs = this.#host.now();
    const event = this.#newEvent(source, given, nowMs);
    const { type = '', reason = '', message = '', involvedObject } = event;
    const { kind = '', namespace = '', name = '', uid = '' } = involvedObject;
    const object = [source.component, source.node, kind, namespace, name, uid, type].join(' ');
    const isModern = given.action !== undefined;
    if (!isModern && !this.#filter.allow(object, this.#host.clock.monotonicMs())) return;
    const topic = `${object} ${reason}`;
    const isCombined = !isModern && this.#isCombined(topic, message, nowMs);
    const single = `${topic} ${given.fieldPath ?? ''} ${isModern ? '' : message}`;
    const { manager = 'kube-controller-manager' } = source;
    const entry = isCombined ? { key: topic, event: combined(event) } : { key: single, event };
    this.#add({ ...entry, manager, atMs: nowMs });
  }

  /**
   * Records a message of an object for one reason.
   * @returns true if there are so many messages that the event joins the combined Event
   */
  #isCombined(topic: string, message: string, nowMs: number): boolean {
    const known = this.#topics.get(topic);
    const isRecent = known !== undefined && nowMs - known.atMs <= combineMs;
    const messages = isRecent ? known.messages : new Set<string>();
    messages.add(message);
    this.#topics.set(topic, { messages, atMs: nowMs });
    if (messages.size < maxMessages) return false;
    const [oldest = ''] = messages;
    messages.delete(oldest);
    return true;
  }

  #add(given: Omit<Entry, 'forgotten'>): void {
    const { key, event, atMs } = given;
    const known = this.#entries.get(key)?.event;
    const current = known === undefined ? event : repeated(known, event, atMs);
    const entry: Entry = { ...given, event: current, forgotten: false };
    const evicted = this.#entries.set(key, entry);
    if (evicted !== undefined) this.#forget(evicted);
    this.#queue?.add(entry);
    for (const old of this.#entries.values()) {
      if (old.atMs + lifeMs > atMs) break;
      this.#entries.delete(old.key);
      this.#forget(old);
    }
  }

  #forget(entry: Entry): void {
    this.#queue?.add({ ...entry, forgotten: true });
  }

  async #write({ event, manager, forgotten }: Entry): Promise<void> {
    const writer = this.#host.writer(manager);
    const { namespace, name = '' } = event.metadata;
    const live = this.#host.get(coreEvent, { namespace, name });
    try {
      if (forgotten) {
        if (live !== undefined) await writer.delete(coreEvent, live);
      } else if (live === undefined) await writer.create(event);
      else await writer.update({ ...event, metadata: live.metadata });
    } catch (error) {
      // As client-go does: an Event that the server refuses is dropped.
      if (!isApiError(error)) throw error;
    }
  }

  #newEvent(
    { component, node = '' }: EventSource,
    { about, fieldPath, type = 'Normal', reason, message, action }: ControllerEvent,
    nowMs: number,
  ): CoreEvent {
    const { name = '', uid, namespace, resourceVersion } = about.metadata;
    const { apiVersion, kind } = about;
    const now = formatTime(nowMs);
    const isLegacy = action === undefined;
    const times = isLegacy
      ? { firstTimestamp: now, lastTimestamp: now, count: 1 }
      : { eventTime: formatMicroTime(nowMs), action };
    return {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: this.#nameFor(name, nowMs), namespace: namespace ?? 'default' },
      involvedObject: {
        ...{ apiVersion, kind, name, namespace, uid, resourceVersion },
        ...(fieldPath !== undefined && { fieldPath }),
      },
      ...{ type, reason, message },
      source: isLegacy ? { component, ...(node !== '' && { host: node }) } : {},
      ...times,
      reportingComponent: component,
      reportingInstance: isLegacy ? node : `${component}-embedded`,
    } as CoreEvent;
  }

  /** Returns the name of a new Event, as client-go does: the object's name and the time in nanoseconds. */
  #nameFor(name: string, nowMs: number): string {
    // The counter makes the names of Events of the same millisecond different.
    const nanoseconds = BigInt(Math.floor(nowMs)) * 1_000_000n + BigInt(this.#count++ % 1_000_000);
    const full = `${name}.${nanoseconds.toString(16)}`;
    return subdomainProblems(full).length === 0 ? full : this.#host.random.uuid();
  }
}

/** Starts to write the Events of the other controllers. */
export function startControllerEvents(host: ControllerHost): void {
  host.events.start();
}

function combined(event: CoreEvent): CoreEvent {
  const message = `(combined from similar events): ${event.message ?? ''}`;
  // As in client-go, which builds these Events without a reporter.
  return { ...event, message, reportingComponent: '', reportingInstance: '' };
}

function repeated(known: CoreEvent, event: CoreEvent, atMs: number): CoreEvent {
  if (known.count === undefined) {
    const count = (known.series?.count ?? 1) + 1;
    const series = { count, lastObservedTime: formatMicroTime(atMs) };
    return { ...known, series };
  }
  const { message, lastTimestamp } = event;
  return { ...known, message, lastTimestamp, count: known.count + 1 } as CoreEvent;
}
