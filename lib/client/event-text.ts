import { randomUUID } from 'node:crypto';
import { assignMembers, isJsonObject } from '../object/index.js';
import { ConnectionError } from '../system/index.js';
import { describeCall } from './call.js';
import type { Call } from './call.js';
import type { WatchOptions } from './client.js';

/** Options of {@link eventParser}. */
export type EventTextOptions = Pick<WatchOptions, 'omitManagedFields' | 'knownParts'>;

/** A range of characters in a line. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** The range of the value of a member of the object. */
interface Part extends Range {
  readonly name: 'spec' | 'status';
}

/**
 * Returns a function that parses a watch event, a line of JSON. The function parses as little as it can:
 *
 * - `managedFields` of the object is cut out of the text if the caller does not need it. It is often half of the
 *   text, and the half that takes longest to parse.
 * - `spec` and `status` of a changed object are cut out if the caller has values by their text. Most changes of an
 *   object change only one of them.
 *
 * A mark stands for each part that was cut out. If the rest and the parts parse, and each mark is in its place, then
 * the parts were cut at the right ends: otherwise quotes or brackets would not match.
 *
 * @throws OperatorError `ConnectionFailed` (the returned function): the line is not JSON.
 */
export function eventParser(
  call: Call,
  { omitManagedFields = false, knownParts }: EventTextOptions,
): (line: string) => unknown {
  const whole = (line: string): unknown => {
    const event = parseLine(line, call);
    return omitManagedFields ? droppedManagedFields(event) : event;
  };
  let failures = 0;
  return (line) => {
    const managedFields = omitManagedFields ? managedFieldsIn(line) : undefined;
    const isTried = knownParts !== undefined && failures < mostFailures;
    const parts = isTried ? partsIn(line, managedFields?.end ?? 0) : [];
    if (managedFields === undefined && parts.length === 0) return whole(line);
    try {
      const event = eventFrom(line, { managedFields, parts, knownParts });
      if (event !== undefined) return omitManagedFields ? droppedManagedFields(event) : event;
    } catch {
      // A part was not cut at the end of its value, or the line is not JSON.
    }
    if (parts.length > 0) failures++;
    return whole(line);
  };
}

/** After this many failures, `spec` and `status` are no longer cut out: the objects of the kind have another form. */
const mostFailures = 8;

/** Only a list with at least one entry is cut out: an empty one is as quick to parse. */
const managedFieldsStart = '"managedFields":[{"';
const closeBrace = 0x7d;

/** Returns the range of the member `managedFields`, as far as the text shows it. */
function managedFieldsIn(line: string): Range | undefined {
  const start = line.indexOf(managedFieldsStart);
  const end = start < 0 ? -1 : line.indexOf(']', start);
  return end > 0 && line.charCodeAt(end - 1) === closeBrace ? { start, end: end + 1 } : undefined;
}

const changedStart = '{"type":"MODIFIED"';
const specStart = '"spec":{';
const statusStart = ',"status":{';
/** The ends of the object and of the event. */
const eventEnd = '}}';
/** It takes less time to parse a shorter line than to cut it. */
const shortestLine = 1_000;

/** Returns the values of `spec` and `status`, as far as the text shows them. Servers send `status` last. */
function partsIn(line: string, from: number): readonly Part[] {
  const isChange = line.length >= shortestLine && line.startsWith(changedStart);
  if (!isChange || !line.endsWith(eventEnd)) return [];
  const end = line.length - eventEnd.length;
  const parts: Part[] = [];
  const specAt = line.indexOf(specStart, from);
  const statusAt = line.lastIndexOf(statusStart);
  if (specAt >= 0) {
    const start = specAt + specStart.length - 1;
    parts.push({ name: 'spec', start, end: statusAt < 0 ? end : statusAt });
  }
  if (statusAt >= 0) parts.push({ name: 'status', start: statusAt + statusStart.length - 1, end });
  return parts;
}

/**
 * Stands for `managedFields`. Metadata has no member with such a name, and V8 deletes a number-like name without a
 * cost. An object from which it deletes another member becomes slower and, from Node.js 22 on, three times as large.
 */
const managedFieldsMark = '0';
/** Stands for `spec` and `status`. It is random, so that no object can contain it. */
const partMark = randomUUID();
const partMarkText = JSON.stringify(partMark);

interface Cuts extends Pick<WatchOptions, 'knownParts'> {
  readonly managedFields: Range | undefined;
  readonly parts: readonly Part[];
}

/**
 * Returns the event, or undefined if a mark is not where it belongs.
 * @throws SyntaxError: the rest or a part is not JSON.
 */
function eventFrom(line: string, { managedFields, parts, knownParts }: Cuts): unknown {
  let [rest, at] = ['', 0];
  if (managedFields !== undefined) {
    rest = `${line.slice(0, managedFields.start)}"${managedFieldsMark}":null`;
    at = managedFields.end;
  }
  for (const { start, end } of parts) {
    rest += `${line.slice(at, start)}${partMarkText}`;
    at = end;
  }
  const event = JSON.parse(rest + line.slice(at)) as ObjectEvent;
  const metadata = metadataOf(event);
  if (metadata === undefined) return undefined;
  if (managedFields !== undefined) {
    if (metadata[managedFieldsMark] !== null) return undefined;
    Reflect.deleteProperty(metadata, managedFieldsMark);
  }
  const { object } = event;
  for (const { name, start, end } of parts) {
    if (object[name] !== partMark) return undefined;
    object[name] = knownParts?.read(metadata['uid'], name, line.slice(start, end));
  }
  return event;
}

function droppedManagedFields(event: unknown): unknown {
  const metadata = metadataOf(event);
  if (metadata?.['managedFields'] === undefined) return event;
  (event as ObjectEvent).object.metadata = assignMembers({}, metadata, ['managedFields']);
  return event;
}

interface ObjectEvent {
  readonly object: { metadata: Record<string, unknown>; spec?: unknown; status?: unknown };
}

/** Returns the metadata of the object of an event. */
export function metadataOf(event: unknown): Record<string, unknown> | undefined {
  const metadata = (event as Partial<ObjectEvent> | null)?.object?.metadata;
  return isJsonObject(metadata) ? metadata : undefined;
}

function parseLine(line: string, call: Call): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    // The message omits the line: it may be half a Secret.
    const message = `${describeCall(call)}: the stream broke off within an event`;
    throw new ConnectionError(message, { requestSent: true });
  }
}
