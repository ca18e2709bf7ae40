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

describe('The data of Secrets', () => {
  it('is decoded to strings for a pipeline', () => {
    const secret = { kind: 'Secret', type: 'Opaque', data: { a: base64('päss\n'), b: '' } };
    const document = { kind: 'Secret', type: 'Opaque', data: { a: 'päss\n', b: '' } };
    expect(decodeSecret(secret)).to.deep.equal(document);
    expect(encodeSecret(document)).to.deep.equal(secret);
  });

  it('keeps a byte order mark and invalid UTF-8', () => {
    expect(bytesToText(Uint8Array.of(0xef, 0xbb, 0xbf, 0x61))).to.equal('\ufeffa');
    expect(bytesToText(Uint8Array.of(0x61, 0xff, 0xc3, 0xa4, 0xc3))).to.equal('a\udcffä\udcc3');
  });

  it('survives a round trip for any bytes', () => {
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

  it('includes stringData over data, with scalars as strings', () => {
    const document = { data: { a: 'x', n: 4.5, t: true }, stringData: { a: 'y' } };
    const data = { a: base64('y'), n: base64('4.5'), t: base64('true') };
    expect(encodeSecret(document)).to.deep.equal({ data });
    expect(encodeSecret({ stringData: {} })).to.deep.equal({});
  });

  it('keeps nulls, and documents without data', () => {
    expect(encodeSecret({ data: { a: null } })).to.deep.equal({ data: { a: null } });
    const none = { kind: 'Secret' };
    expect([decodeSecret(none), encodeSecret(none)]).to.deep.equal([none, none]);
  });

  it('accepts any key, including __proto__', () => {
    const data = JSON.parse(`{"__proto__":"${base64('x')}"}`) as object;
    expect(JSON.stringify(decodeSecret({ data }))).to.equal('{"data":{"__proto__":"x"}}');
    const stringData = JSON.parse('{"__proto__":"x"}') as object;
    expect(JSON.stringify(encodeSecret({ stringData }))).to.equal(JSON.stringify({ data }));
  });

  it('is decoded without changing the input', () => {
    const document = Object.freeze({ data: Object.freeze({ a: 'eA==' }) });
    expect(decodeSecret(document)).not.to.equal(document);
    expect(document).to.deep.equal({ data: { a: 'eA==' } });
  });

  it('refuses a list or a map without revealing it', () => {
    for (const value of [['geheim'], { x: 'geheim' }]) {
      const encode = () => encodeSecret({ data: { key: value } });
      expect(encode).to.throw('data["key"]').with.property('code', 'InvalidObject');
      expect(encode).not.to.throw('geheim');
    }
  });

  it('is recognized for Secrets of the core group only', () => {
    expect([Secret, ConfigMap, { ...Secret, group: 'example.com' }].map(isSecret)).to.deep.equal([
      ...[true, false, false],
    ]);
  });
});
