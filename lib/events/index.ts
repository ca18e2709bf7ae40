export { EventRecorder } from './event-recorder.js';
export type { EventRecorderOptions } from './event-recorder.js';
export type { DropReason } from './event-writer.js';
export { OperatorEvents } from './operator-events.js';
export type {
  ObjectWritten,
  OperatorEventMap,
  OperatorEventsOptions,
  RolloutChanged,
  WriteFailed,
  WriteVerb,
} from './operator-events.js';
export type { ObjectEvent, Recorder } from './recorder.js';
export { recordingClient } from './recording-client.js';
export type { RecordingClientOptions } from './recording-client.js';
export type { WriteDetails } from '../client/client.js';
