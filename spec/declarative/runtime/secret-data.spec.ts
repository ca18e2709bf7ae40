import { expect } from 'chai';
import fc from 'fast-check';
import {
  bytesToText,
  textToBytes,
  decodeSecret,
  encodeSecret,
  isSecret,
} from '../../../lib/declarative/runtime/secret-data.js';
import { ConfigMap, Secret } from '../../../lib/object/kinds.js';

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('The data of a Secret', () => {
  it('is decoded to strings for a pipeline', () => {
    const secret = { kind: 'Secret', type: 'Opaque', data: { a: base64('päss\n'), b: '' } };
    const document = { kind: 'Secret', type: 'Opaque', data: { a: 'päss\n', b: '' } };
    expect(decodeSecret(secret)).to.deep.equal(document);
    expect(encodeSecret(document)).to.deep.equal(secret);
  });

  it('is decoded without losing a byte order mark or invalid UTF-8', () => {
    expect(bytesToText(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).to.equal('\ufeffa');
    expect(bytesToText(Uint8Array.of(0x61, 0xff, 0xc3, 0xa4, 0xc3))).to.equal('a\udcffä\udcc3');
  });

  it('is decoded to one character for each byte that is not UTF-8', () => {
    const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const characterAt = (bytes: Uint8Array, at: number): string | undefined => {
      for (const length of [1, 2, 3, 4]) {
        try {
          return strict.decode(bytes.subarray(at, at + length));
        } catch {
          // Not a character of this length.
        }
      }
      return undefined;
    };
    const model = (bytes: Uint8Array): string => {
      let text = '';
      for (let at = 0; at < bytes.length;) {
        const character = characterAt(bytes, at);
        text += character ?? String.fromCharCode(0xdc00 + bytes[at]!);
        at += character === undefined ? 1 : Buffer.byteLength(character);
      }
      return text;
    };
    const edges = ['\0', '\x7f', '\x80', '\u07ff', '\u0800', '\uffff', '\u{10000}', '\u{10ffff}'];
    const leads = [0x80, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xef, 0xf0, 0xf3, 0xf4, 0xf5, 0xff];
    const tails = edges.map((edge) => Buffer.from(edge));
    for (const lead of leads) {
      for (const tail of [...tails, Buffer.of(0x80), Buffer.of(0x90, 0x80, 0x80)]) {
        const bytes = Buffer.concat([Buffer.of(lead), tail, Buffer.of(0xff), tail]);
        expect(bytesToText(bytes), bytes.toString('hex')).to.equal(model(bytes));
        expect([...textToBytes(bytesToText(bytes))]).to.deep.equal([...bytes]);
      }
    }
  });

  it('is the same after decoding and encoding, for any bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 12 });
    // Multi-byte characters are rare among random bytes.
    const texts = fc.string({ unit: 'binary' }).map((text) => Buffer.from(text));
    const mixed = fc.array(fc.oneof(bytes, texts)).map((parts) => Buffer.concat(parts));
    const property = fc.property(fc.oneof(bytes, mixed), (all) => {
      const text = bytesToText(all);
      expect([...textToBytes(text)]).to.deep.equal([...all]);
      // Documents pass through JSON.
      expect(JSON.parse(JSON.stringify(text))).to.equal(text);
    });
    fc.assert(property);
  });

  it('is encoded from data and stringData, which takes precedence, with scalars as strings', () => {
    const document = { data: { a: 'x', n: 4.5, t: true }, stringData: { a: 'y' } };
    const data = { a: base64('y'), n: base64('4.5'), t: base64('true') };
    expect(encodeSecret(document)).to.deep.equal({ data });
    expect(encodeSecret({ stringData: {} })).to.deep.equal({});
  });

  it('is encoded without a change of nulls, and of documents without data', () => {
    expect(encodeSecret({ data: { a: null } })).to.deep.equal({ data: { a: null } });
    const none = { kind: 'Secret' };
    expect([decodeSecret(none), encodeSecret(none)]).to.deep.equal([none, none]);
  });

  it('can have any key, including __proto__', () => {
    const data = JSON.parse(`{"__proto__":"${base64('x')}"}`) as object;
    expect(JSON.stringify(decodeSecret({ data }))).to.equal('{"data":{"__proto__":"x"}}');
    const stringData = JSON.parse('{"__proto__":"x"}') as object;
    expect(JSON.stringify(encodeSecret({ stringData }))).to.equal(JSON.stringify({ data }));
  });

  it('is decoded into a copy', () => {
    const document = Object.freeze({ data: Object.freeze({ a: 'eA==' }) });
    expect(decodeSecret(document)).not.to.equal(document);
    expect(document).to.deep.equal({ data: { a: 'eA==' } });
  });

  it('is refused if a value is a list or a map, with an error that does not quote the value', () => {
    for (const value of [['geheim'], { x: 'geheim' }]) {
      const encode = () => encodeSecret({ data: { key: value } });
      expect(encode).to.throw('data["key"]').with.property('code', 'InvalidObject');
      expect(encode).not.to.throw('geheim');
    }
  });

  it('is decoded only for Secrets of the core group', () => {
    expect([Secret, ConfigMap, { ...Secret, group: 'example.com' }].map(isSecret)).to.deep.equal([
      ...[true, false, false],
    ]);
  });
});
