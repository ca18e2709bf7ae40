import type { Document } from '../document.js';
import type { SourceSpec } from '../spec/operator-spec.js';
import type { DocumentSource, StartedDocuments } from './document-source.js';

const group = 'source.dcontroller.io';

/** Returns the constant document of a source that follows no objects. */
function triggerObject({ type, kind }: SourceSpec): Document {
  const metadata = { name: type === 'OneShot' ? 'one-shot-trigger' : 'periodic-trigger' };
  return { apiVersion: `${group}/v1alpha1`, kind, metadata };
}

/** Returns the single document of a `OneShot` source, or of a `Periodic` one without other sources. */
export function triggerDocument(name: string, spec: SourceSpec): DocumentSource {
  const document = triggerObject(spec);
  const key = 'trigger';
  const started: StartedDocuments = {
    get: (asked) => (asked === key ? { document, origin: document } : undefined),
    keys: () => [key],
    synced: true,
    parked: false,
    problem: undefined,
    whenSynced: () => Promise.resolve(),
    stop: () => undefined,
  };
  return {
    name,
    start: (_context, { changed }) => {
      changed(key);
      return started;
    },
  };
}
