import type { Document } from '../document.js';
import type { SourceType } from '../spec/operator-spec.js';
import type { DocumentSource, StartedDocuments } from './document-source.js';

const group = 'source.dcontroller.io';

/** The document of a source that follows no objects: there from the start, always the same. */
export function triggerObject(type: SourceType): Document {
  const metadata = { name: type === 'OneShot' ? 'one-shot' : 'periodic' };
  return { apiVersion: `${group}/v1alpha1`, kind: type, metadata };
}

/** The one document of a `OneShot` source, or of a `Periodic` one that stands alone. */
export function triggerDocument(name: string, type: SourceType): DocumentSource {
  const document = triggerObject(type);
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
