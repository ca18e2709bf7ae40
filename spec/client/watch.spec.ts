import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { jsonLines } from '../../lib/client/watch-events.js';
import type { Client, WatchEvent, WatchOptions } from '../../lib/client/index.js';
import { ConfigMap } from '../../lib/object/kinds.js';
import { ConnectionError } from '../../lib/system/operator-error.js';
import { VirtualClock } from '../../lib/system/virtual-clock.js';
import { failureOf, refusal, scripted } from './scripted-transport.js';
import type { Script } from './scripted-transport.js';

const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const line = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;

async function eventsOf(client: Client, options?: WatchOptions): Promise<WatchEvent<ConfigMap>[]> {
  const events: WatchEvent<ConfigMap>[] = [];
  for await (const event of client.watch(ConfigMap, options)) events.push(event);
  return events;
}

/** Returns the value of a line as it is. */
const valueOf = (json: unknown): unknown => json;

type Members = Readonly<Record<string, unknown>>;

const withoutUndefined = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

const streaming =
  (...chunks: readonly (string | Uint8Array | Error)[]): Script =>
  () => ({ chunks });

describe('a watch', () => {
  const queries: readonly (readonly [string, WatchOptions, string])[] = [
    ['of all objects', {}, '/api/v1/configmaps?watch=true&allowWatchBookmarks=true'],
    [
      'of selected objects, from a version, with a timeout',
      { namespace: 'shop', labelSelector: 'a', resourceVersion: '5', timeoutMs: 1_001 },
      '/api/v1/namespaces/shop/configmaps?watch=true&labelSelector=a&resourceVersion=5' +
        '&allowWatchBookmarks=true&timeoutSeconds=2',
    ],
    [
      'that begins with the existing objects',
      { sendInitialEvents: true },
      '/api/v1/configmaps?watch=true&resourceVersionMatch=NotOlderThan' +
        '&allowWatchBookmarks=true&sendInitialEvents=true',
    ],
  ];
  for (const [title, options, path] of queries) {
    it(`requests a stream ${title}`, async () => {
      const { client, transport } = scripted(streaming());
      await eventsOf(client, options);
      expect(transport.calls).to.deep.equal([`GET ${path}`]);
      expect(transport.requests[0]).to.include({ streaming: true });
      expect(transport.requests[0]?.headers).not.to.have.property('accept-encoding');
    });
  }

  it('yields the events, and ends when the server ends it', async () => {
    const [a, b] = [configMap('a'), configMap('b')];
    const { client } = scripted(
      streaming(line('ADDED', a), line('MODIFIED', b) + line('DELETED', a)),
    );
    expect(await eventsOf(client)).to.deep.equal([
      { type: 'ADDED', object: a },
      { type: 'MODIFIED', object: b },
      { type: 'DELETED', object: a },
    ]);
  });

  it('yields bookmarks, and marks the one that ends the initial events', async () => {
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const bookmark = (metadata: object) => line('BOOKMARK', { kind: 'ConfigMap', metadata });
    const { client } = scripted(
      streaming(
        bookmark({ resourceVersion: '7', annotations }),
        bookmark({ resourceVersion: '8' }),
      ),
    );
    expect(await eventsOf(client)).to.deep.equal([
      { type: 'BOOKMARK', resourceVersion: '7', initialEventsEnd: true },
      { type: 'BOOKMARK', resourceVersion: '8', initialEventsEnd: false },
    ]);
  });

  it('throws an ERROR event as an ApiError', async () => {
    const status = { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' };
    const { client, transport } = scripted(streaming(line('ERROR', status)));
    const error = await failureOf(eventsOf(client));
    expect(error).to.include({ code: 'ApiError', status: 410, reason: 'Expired' });
    expect(transport.open).to.equal(0);
  });

  const malformed: Readonly<Record<string, [event: unknown, problem: string]>> = {
    'a bookmark without an object': [{ type: 'BOOKMARK', object: null }, 'has no metadata'],
    'a bookmark without metadata': [{ type: 'BOOKMARK', object: {} }, 'has no metadata'],
    'an error without an object': [{ type: 'ERROR', object: null }, 'has no Status object'],
    'an unknown type': [{ type: 'WEIRD', object: {} }, 'its type is unknown'],
    'no object at all': [null, 'its type is unknown'],
  };
  for (const [title, [event, problem]] of Object.entries(malformed)) {
    it(`reports a malformed event: ${title}`, async () => {
      const { client, transport } = scripted(streaming(`${JSON.stringify(event)}\n`));
      const error = await failureOf(eventsOf(client));
      expect(error).to.have.property('code', 'ConnectionFailed');
      const message = 'watch ConfigMap: the server sent a malformed watch event: ';
      expect(error.message).to.contain(message).and.to.contain(problem);
      expect(transport.open).to.equal(0);
    });
  }

  it('throws the error of a server that refuses it', async () => {
    const { client } = scripted(() => refusal(403, 'Forbidden'));
    expect(await failureOf(eventsOf(client))).to.have.property('status', 403);
  });

  it('is requested again when its connection breaks before the first byte, but throws when it breaks later', async () => {
    const broken = () => new ConnectionError('reset', { requestSent: true });
    const { client, transport } = scripted((_, nth) =>
      nth === 1 ? broken() : { chunks: [line('ADDED', configMap('a')), broken()] },
    );
    expect(await failureOf(eventsOf(client))).to.have.property('code', 'ConnectionFailed');
    expect(transport.calls).to.have.length(2);
  });

  it('closes its stream when the loop exits', async () => {
    const { client, transport } = scripted(streaming(line('ADDED', configMap('a')).repeat(9)));
    for await (const event of client.watch(ConfigMap)) {
      expect(event.type).to.equal('ADDED');
      expect(transport.open).to.equal(1);
      break;
    }
    expect(transport.open).to.equal(0);
  });

  for (const cut of ['{"type":"ADD', '{"type":"ADDED","object":{"data":{"password":"aHVu\n']) {
    it(`does not quote the partial line of a broken stream: ${JSON.stringify(cut.slice(0, 12))}`, async () => {
      const { client } = scripted(streaming(line('ADDED', configMap('a')), cut));
      const error = await failureOf(eventsOf(client));
      expect(error).to.have.property('code', 'ConnectionFailed');
      expect(error.message).to.equal('watch ConfigMap: the stream broke off within an event');
    });
  }

  it('accepts a complete last line without a newline', async () => {
    const { client } = scripted(streaming(line('ADDED', configMap('a')).trimEnd()));
    expect(await eventsOf(client)).to.have.length(1);
  });

  it('rejects a line that is not an event', async () => {
    const { client } = scripted(streaming('{"kind":"ConfigMapList"}\n'));
    expect(await failureOf(eventsOf(client))).to.have.property('code', 'ConnectionFailed');
  });

  it('fails when the server does not end the watch after its timeout', async () => {
    const clock = new VirtualClock();
    const { client } = scripted(
      ({ signal }) => ({
        chunks: (function* () {
          yield line('ADDED', configMap('a'));
          expect(signal?.aborted).to.equal(true);
          yield new Error('aborted');
        })() as unknown as string[],
      }),
      { clock },
    );
    const events = client.watch(ConfigMap, { timeoutMs: 60_000 })[Symbol.asyncIterator]();
    await events.next();
    expect(clock.nextTimerMs).to.equal(90_000);
    await clock.advance(90_000);
    const error = await failureOf(events.next());
    expect(error).to.have.property('code', 'ConnectionFailed');
    expect(error.message).to.contain('did not end');
  });

  it('sets no timer after it has begun if it has no timeout', async () => {
    const clock = new VirtualClock();
    const { client } = scripted(streaming(line('ADDED', configMap('a'))), { clock });
    for await (const event of client.watch(ConfigMap)) {
      expect({ type: event.type, timers: clock.pendingTimers }).to.deep.equal({
        type: 'ADDED',
        timers: 0,
      });
    }
  });
});

describe('a watch whose server sends a line without an end', () => {
  it('fails with ConnectionFailed after 64 MiB, yields the earlier events, and ends the stream', async () => {
    let [taken, ended] = [0, false];
    const chunk = new Uint8Array(2 ** 20).fill(0x61);
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        yield await Promise.resolve(Buffer.from('{"a":1}\n{"b":'));
        for (; ; taken++) yield chunk;
      } finally {
        ended = true;
      }
    }
    const values: unknown[] = [];
    const read = async (): Promise<void> => {
      for await (const lines of jsonLines(endless(), { verb: 'watch', kind: 'X' }, { valueOf })) {
        values.push(...lines);
      }
    };
    const error = await failureOf(read());
    expect(error).to.be.instanceOf(ConnectionError).with.property('code', 'ConnectionFailed');
    expect(error.message).to.include('more than 64 MiB');
    expect([values, taken, ended]).to.deep.equal([[{ a: 1 }], 63, true]);
  });
});

describe('a watch with the option omitManagedFields', () => {
  const omitted = async (...texts: readonly string[]) => {
    const { client } = scripted(streaming(...texts));
    const events = await eventsOf(client, { omitManagedFields: true });
    return events.map((event) => ('object' in event ? event.object : event));
  };
  const managedFields = [
    { manager: 'a"]}', fieldsV1: { 'f:x': { 'k:{"a":"]"}': { '.': {}, 'v:[1]': {} } } } },
    { manager: 'b\\', operation: 'Apply' },
  ];
  const head = { apiVersion: 'v1', kind: 'ConfigMap' };

  it('omits managedFields from metadata, at any position', async () => {
    const objects = [
      { ...head, metadata: { name: 'last', labels: { a: 'b' }, managedFields } },
      { ...head, metadata: { name: 'middle', managedFields, uid: '5' }, data: { a: '{"[' } },
      { ...head, metadata: { managedFields, name: 'first' } },
      { metadata: { managedFields }, ...head },
      { ...head, metadata: { annotations: { x: '"managedFields":[{' }, managedFields } },
      { ...head, metadata: { managedFields: [], name: 'empty' } },
      { ...head, metadata: { name: 'without' } },
    ];
    const expected = objects.map((object) => {
      const { name, uid, labels, annotations } = object.metadata as Members;
      return { ...object, metadata: withoutUndefined({ name, uid, labels, annotations }) };
    });
    const lines = objects.map((object) => line('MODIFIED', object));
    expect(await omitted(...lines)).to.deep.equal(expected);
    expect(await omitted(lines.join(''))).to.deep.equal(expected);
  });

  it("leaves the metadata in V8's fast form, in which the caller may keep many objects", async () => {
    setFlagsFromString('--allow-natives-syntax');
    const isFast = runInThisContext('(object) => %HasFastProperties(object)') as (
      object: object,
    ) => boolean;
    const metadata = { name: 'last', labels: { a: 'b' }, managedFields };
    const middle = { name: 'middle', managedFields, uid: '5' };
    const unusual = { managedFields: [managedFields], name: 'unusual' };
    const objects = [metadata, middle, unusual].map((each) => ({ ...head, metadata: each }));
    const seen = await omitted(...objects.map((object) => line('ADDED', object)));
    const forms = seen.map((object) => isFast((object as ConfigMap).metadata));
    expect(forms).to.deep.equal([true, true, true]);
  });

  it('keeps the fields after managedFields, even if the list of managers is unusual', async () => {
    const rest = '"name":"x"},"spec":{"list":[{"b":1}]}}}\n';
    for (const list of ['[{"a":1} ]', '[{"a":1},null]', '[{"a":[{"b":"]"}]}]', '[{"a":"}]"}]']) {
      const text = `{"type":"ADDED","object":{"metadata":{"managedFields":${list},${rest}`;
      expect(await omitted(text), list).to.deep.equal([
        { ...head, metadata: { name: 'x' }, spec: { list: [{ b: 1 }] } },
      ]);
    }
  });

  it('keeps fields named managedFields outside of metadata, and the rest of every object', async () => {
    const names = fc.constantFrom(
      'managedFields',
      'metadata',
      'object',
      'a',
      '"',
      // A name is not a single backslash: Node.js 24 would read the name `"` as a backslash (a bug in V8's JSON.parse).
      'a\\b',
      'x"managedFields":[',
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        names,
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(names, tie('tree'), { maxKeys: 3 }),
      ),
    }));
    const property = fc.asyncProperty(
      ...[fc.dictionary(names, tree), fc.dictionary(names, tree), fc.boolean()],
      async (rest, metadata, isLast) => {
        const object = { ...rest, ...head, metadata: { ...metadata, name: 'a' } };
        const ordered = isLast ? object : Object.fromEntries(Object.entries(object).reverse());
        const [seen] = (await omitted(line('ADDED', ordered))) as readonly Members[];
        const isKept = 'managedFields' in (seen?.['metadata'] as Members);
        const kept = isKept ? {} : { managedFields: metadata['managedFields'] };
        const whole = { ...seen, metadata: { ...(seen?.['metadata'] as Members), ...kept } };
        expect(withoutUndefined(whole.metadata)).to.deep.equal(object.metadata);
        expect({ ...whole, metadata: {} }).to.deep.equal({ ...object, metadata: {} });
      },
    );
    await fc.assert(property);
  });

  it('omits managedFields from JSON with spaces, and reports a truncated line', async () => {
    const object = { ...head, metadata: { name: 'a', managedFields } };
    const event = { type: 'ADDED', object };
    const spaced = JSON.stringify(event, undefined, 1).replaceAll('\n', ' ');
    const left = { ...head, metadata: { name: 'a' } };
    expect(await omitted(`${spaced}\n`)).to.deep.equal([left]);
    const text = JSON.stringify(event);
    for (let length = text.indexOf('managedFields'); length < text.length; length++) {
      const error = await failureOf(omitted(text.slice(0, length)));
      expect(error).to.have.property('code', 'ConnectionFailed');
    }
  });
});

describe('jsonLines', () => {
  const cut = (bytes: Buffer, sizes: readonly number[]): Uint8Array[] => {
    const chunks: Uint8Array[] = [];
    let start = 0;
    for (const size of sizes) {
      chunks.push(bytes.subarray(start, start + size));
      start += size;
    }
    return [...chunks, bytes.subarray(start)];
  };

  async function* from(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    yield* chunks;
  }

  it('yields the same values however the bytes are split', async () => {
    const values = fc.array(fc.jsonValue(), { maxLength: 5 });
    const sizes = fc.array(fc.nat({ max: 9 }));
    const property = fc.asyncProperty(values, sizes, async (expected, cuts) => {
      const text = expected.map((value) => `${JSON.stringify(value)}\n`).join('');
      const seen: unknown[] = [];
      const call = { verb: 'watch', kind: 'X' };
      for await (const lines of jsonLines(from(cut(Buffer.from(text), cuts)), call, { valueOf })) {
        seen.push(...lines);
      }
      expect(seen).to.deep.equal(JSON.parse(JSON.stringify(expected)));
    });
    await fc.assert(property);
  });

  it('reads a line of 20 MB in many chunks in linear time', async () => {
    const chunk = Buffer.from('x'.repeat(1_000));
    const chunks = [
      Buffer.from('"'),
      ...Array.from({ length: 20_000 }, () => chunk),
      Buffer.from('"\n'),
    ];
    for await (const [value] of jsonLines(
      from(chunks),
      { verb: 'watch', kind: 'X' },
      { valueOf },
    )) {
      expect(value).to.have.length(20_000_000);
    }
  });
});
