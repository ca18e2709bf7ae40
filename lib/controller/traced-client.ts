import type { Client } from '../client/client.js';
import { forwarding } from '../client/forwarding.js';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { noTracer } from '../system/tracer.js';
import type { Span, SpanAttributes, Tracer } from '../system/tracer.js';

type TwoClients = Client & { readonly live?: Client };

/**
 * `client`, whose calls to the server are children of `span`. Reads of a cached client are none: what
 * is read from its cache makes no request, and what is not is read through its `live` client.
 */
export function traced(client: TwoClients, span: Span, tracer: Tracer): TwoClients {
  if (tracer === noTracer) return client;
  const { live } = client;
  const whole = { ...forwarding(client), ...tracedWrites(client, span) };
  if (live === undefined) return { ...whole, ...tracedReads(client, span) };
  return {
    ...whole,
    live: { ...forwarding(live), ...tracedWrites(live, span), ...tracedReads(live, span) },
  };
}

function tracedReads(client: Client, span: Span): Pick<Client, 'get' | 'list'> {
  return {
    get: (type, key, options) => {
      const attributes = attributesOf('get', { ...type, ...key });
      return span.span(`get ${type.kind}`, attributes, () => client.get(type, key, options));
    },
    list: (type, options) => {
      const attributes = attributesOf('list', { kind: type.kind, namespace: options?.namespace });
      return span.span(`list ${type.kind}`, attributes, () => client.list(type, options));
    },
  };
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
