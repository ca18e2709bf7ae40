import type { Client } from '../../../lib/client/client.js';
import { isApiError, isNotFound } from '../../../lib/object/api-error.js';
import { CustomResourceDefinition } from '../../../lib/object/kinds.js';
import { sleep, systemClock } from '../../../lib/system/clock.js';
import { silentLogger } from '../../../lib/system/logger.js';
import type { Logger } from '../../../lib/system/logger.js';
import type { Schema } from '../../../lib/object/schema.js';

/** Creates a client that logs warnings to `logger`. */
export type Connect = (logger: Logger) => Promise<Client & { close(): Promise<unknown> }>;

const loose: Schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        number: { type: 'integer' },
        other: { type: 'integer' },
        text: { type: 'string', format: 'nonsense' },
        long: { type: 'string' },
        both: { type: 'object', properties: { low: { type: 'integer' } } },
      },
    },
  },
};

/** Adds rules that stored objects violate. */
function strict(): Schema {
  const schema = structuredClone(loose);
  const { number, long, both, text } = schema.properties?.['spec']?.properties ?? {};
  Object.assign(number ?? {}, {
    'x-kubernetes-validations': [{ rule: 'self >= 0', message: 'must not be negative' }],
  });
  Object.assign(long ?? {}, { maxLength: 3 });
  Object.assign(text ?? {}, { format: 'bogus' });
  Object.assign(both ?? {}, {
    'x-kubernetes-validations': [
      {
        rule: 'self.low > 5',
        messageExpression: 'self.low > 0 ? "low" : "none"',
        fieldPath: '.low',
      },
    ],
  });
  return schema;
}

function definition(group: string, schema: Schema): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `loosethings.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind: 'LooseThing', plural: 'loosethings' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  };
}

const spec = { number: -1, other: 1, text: 'x', long: 'too long', both: { low: 1 } };

/**
 * Returns the warnings of a server about formats, finalizers and fields that an update leaves
 * invalid.
 */
export async function warningsOf(
  connect: Connect,
  group: string,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const heard: string[] = [];
  const warn = (message: string): void => {
    heard.push(message.replace('API server warns: ', ''));
  };
  const logger: Logger = { ...silentLogger, warn, child: () => logger };
  const client = await connect(logger);
  const found: Record<string, readonly string[]> = {};
  const during = async (title: string, act: () => Promise<unknown>): Promise<void> => {
    heard.length = 0;
    const outcome = await act().then(() => 'accepted', refusal);
    // The real server returns members in any order.
    found[title] = [outcome, ...[...new Set(heard)].toSorted()];
  };
  const crd = definition(group, loose) as CustomResourceDefinition;
  await during('a definition with an unknown format', () => client.create(crd));
  const object = { apiVersion: `${group}/v1`, kind: 'LooseThing' };
  const finalizers = ['plain', 'dotted.example', 'good.example.com/x'];
  const metadata = { name: 'one', namespace: 'default', finalizers };
  await during('finalizers', () => untilServed(() => client.create({ ...object, metadata, spec })));
  const strictCrd = {
    spec: { versions: (definition(group, strict()) as typeof crd).spec.versions },
  };
  await during('a definition that gets another one', () =>
    client.patch(
      CustomResourceDefinition,
      { name: `loosethings.${group}` },
      { type: 'merge', body: strictCrd },
    ),
  );
  const change = (body: object, by: Client = client, dryRun = false): Promise<unknown> =>
    by.patch(
      { group, version: 'v1', kind: 'LooseThing', plural: 'loosethings', namespaced: true },
      { name: 'one', namespace: 'default' },
      { type: 'merge', body },
      { dryRun },
    );
  // A separate client, because a client logs each warning only once.
  const waiting = await connect(silentLogger);
  await untilRefused(() => change({ spec: { number: -2 } }, waiting, true));
  await waiting.close();
  await during('an update of something else', () => change({ spec: { other: 2 } }));
  await during('one that adds something wrong', () => change({ spec: { other: 3, number: -3 } }));
  await during('one that mends it', () =>
    change({ spec: { number: 3 }, metadata: { finalizers: [] } }),
  );
  await client.delete(CustomResourceDefinition, { name: `loosethings.${group}` });
  await client.close();
  return found;
}

function refusal(error: unknown): string {
  if (!isApiError(error)) throw error;
  return `${error.status} ${error.causes.map(({ field = '' }) => field).join()}`;
}

async function untilServed(act: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!isNotFound(error) && isApiError(error)) throw error;
      await sleep(systemClock, 50);
    }
  }
}

async function untilRefused(act: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await act();
      await sleep(systemClock, 50);
    } catch (error) {
      if (isApiError(error) && error.status === 422) return;
      throw error;
    }
  }
}
