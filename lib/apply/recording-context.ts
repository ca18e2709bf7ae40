import { recordingClient } from '../events/recording-client.js';
import type { EventEmitter } from 'eventemitter3';
import { OperatorEvents } from '../events/operator-events.js';
import type { OperatorEventMap } from '../events/operator-events.js';
import type { WriteDetails } from '../events/recording-client.js';
import { referenceTo } from '../object/object-reference.js';
import type { ApplySettings } from './context.js';
import type { Report, ApplyContext } from './context.js';
import { refId } from './kind-traits.js';

/** A context whose writes are recorded as events on the owner. */
export function recordingContext<Settings extends ApplySettings>(
  settings: Settings,
): ApplyContext<Settings> {
  const { owner, recorder, emitter, logger } = settings;
  const heard = new WeakSet();
  const announced = new Map<string, WriteDetails>();
  const client = recordingClient(settings.client, {
    ...{ recorder, owner, logger },
    emitter: emitter && new NotedEvents(emitter, heard),
    detailsOf: (ref) => announced.get(refId(ref)),
  });
  const report = ({ related, error, ...event }: Report): void => {
    recorder?.record({ ...event, regarding: owner, related });
    if (error === undefined || [error, error.cause].some((each) => isNoted(heard, each))) return;
    const verb = error.code === 'TooManyDeletions' ? 'delete' : 'apply';
    emitter?.emit('failed', { ref: related, owner: referenceTo(owner), verb, error });
  };
  return {
    settings,
    client,
    report,
    announce: (ref, details) => announced.set(refId(ref), details),
  };
}

/** Hands everything on, and notes the errors of which listeners have heard. */
class NotedEvents extends OperatorEvents {
  readonly #listeners: OperatorEvents;
  readonly #heard: WeakSet<object>;

  constructor(listeners: OperatorEvents, heard: WeakSet<object>) {
    super();
    this.#listeners = listeners;
    this.#heard = heard;
  }

  override emit<Name extends keyof OperatorEventMap>(
    name: Name,
    ...payload: EventEmitter.EventArgs<OperatorEventMap, Name>
  ): boolean {
    const [event] = payload as OperatorEventMap[Name];
    if ('error' in event && event.error instanceof Error) this.#heard.add(event.error);
    return this.#listeners.emit(name, ...payload);
  }
}

function isNoted(heard: WeakSet<object>, error: unknown): boolean {
  return error instanceof Error && heard.has(error);
}
