import type { CachingClient, Client } from '../client/index.js';
import { forwarding } from '../client/index.js';
import type { KubernetesObject, ObjectList } from '../object/index.js';
import { noTracer } from '../system/index.js';
import type { Span, SpanAttributes, Tracer } from '../system/index.js';

/**
 * Wraps `client` so that its requests to the server are child spans of `span`. Reads of a cached client have
 * no span: cache hits make no request, and misses go through its `live` client.
 *
 * Each page has its own span, since the caller may pause between pages. Watches and streams have no span:
 * they outlast their caller, and a span is exported only when it ends.
 */
export function traced(client: CachingClient, span: Span, tracer: Tracer): CachingClient {
  if (tracer === noTracer) return client;
  const { live, looks } = client;
  const whole = { ...forwarding(client), ...tracedWrites(client, span) };
  if (live === undefined) return { ...whole, ...tracedReads(client, span) };
  return {
    ...whole,
    looks,
    live: { ...forwarding(live), ...tracedWrites(live, span), ...tracedReads(live, span) },
  };
}

function tracedReads(client: Client, span: Span): Pick<Client, 'get' | 'list' | 'pages'> {
  return {
    get: (type, key, options) => {
      const attributes = attributesOf('get', { ...type, ...key });
      return span.span(`get ${type.kind}`, attributes, () => client.get(type, key, options));
    },
    pages: (type, options) => {
      const attributes = attributesOf('list', { kind: type.kind, namespace: options?.namespace });
      const begin = { name: `list ${type.kind}`, attributes, span };
      return tracedPages(client.pages(type, options), begin);
    },
    list: (type, options) => {
      const attributes = attributesOf('list', { kind: type.kind, namespace: options?.namespace });
      return span.span(`list ${type.kind}`, attributes, () => client.list(type, options));
    },
  };
}

async function* tracedPages<T extends KubernetesObject>(
  pages: AsyncIterable<ObjectList<T>>,
  begin: { readonly name: string; readonly attributes: SpanAttributes; readonly span: Span },
): AsyncGenerator<ObjectList<T>, void> {
  const { name, attributes, span } = begin;
  const iterator = pages[Symbol.asyncIterator]();
  let hasMore = true;
  try {
    for (let page = 1; ; page++) {
      const next = (): Promise<IteratorResult<ObjectList<T>>> => iterator.next();
      // A call after the last page sends no request, so it gets no span.
      const attributesOfPage = { ...attributes, 'k8s.page': page };
      const asked = hasMore ? span.span(name, attributesOfPage, next) : next();
      const result = (await asked) as IteratorResult<ObjectList<T>, unknown>;
      if (result.done === true) return;
      hasMore = (result.value.metadata.continue ?? '') !== '';
      yield result.value;
    }
  } finally {
    await iterator.return?.();
  }
}

type Writes = Pick<Client, 'create' | 'update' | 'patch' | 'apply' | 'delete' | 'deleteCollection'>;

function tracedWrites(client: Client, span: Span): Writes {
  const write = <T>(verb: string, subject: Subject, call: () => Promise<T>): Promise<T> =>
    span.span(`${verb} ${subject.kind}`, attributesOf(verb, subject), call);
  return {
    create: (object, options) =>
      write('create', subjectOf(object), () => client.create(object, options)),
    update: (object, options) =>
      write('update', subjectOf(object), () => client.update(object, options)),
    patch: (type, key, patch, options) =>
      write('patch', { ...type, ...key }, () => client.patch(type, key, patch, options)),
    apply: (object, options) =>
      write('apply', subjectOf(object), () => client.apply(object, options)),
    delete: (type, key, options) =>
      write('delete', { ...type, ...key }, () => client.delete(type, key, options)),
    deleteCollection: (type, options) => {
      const subject = { kind: type.kind, namespace: options?.namespace };
      return write('deleteCollection', subject, () => client.deleteCollection(type, options));
    },
  };
}

interface Subject {
  readonly kind: string;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
}

function subjectOf(object: KubernetesObject): Subject {
  const { namespace, name } = object.metadata;
  return { kind: object.kind, namespace, name };
}

function attributesOf(verb: string, { kind, namespace = '', name = '' }: Subject): SpanAttributes {
  return {
    'k8s.verb': verb,
    'k8s.kind': kind,
    'k8s.namespace.name': namespace,
    'k8s.object.name': name,
  };
}
