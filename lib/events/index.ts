/*
 * Reports of writes: Kubernetes Events, and in-process events for programs.
 *
 *   write ──► recording-client.ts ──► event-recorder.ts ──► event-books.ts ──► event-writer.ts ──► API server
 *                     └──► operator-events.ts ──► listeners in the process
 *
 * Read `recorder.ts` (the interface) and `recording-client.ts`, a client that reports its writes.
 * `event-recorder.ts` validates and merges Events, `event-books.ts` counts repetitions, and
 * `event-writer.ts` sends Events from a bounded queue.
 */
export { EventRecorder } from './event-recorder.js';
export { OperatorEvents } from './operator-events.js';
export type { ObjectWritten } from './operator-events.js';
export { eventName, silentRecorder } from './recorder.js';
export type { ObjectEvent, Recorder } from './recorder.js';
export { recordingClient, WriteReport } from './recording-client.js';
