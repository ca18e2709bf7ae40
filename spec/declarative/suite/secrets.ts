import { expect } from 'chai';
import { decodeSecret } from '../../../lib/declarative/runtime/secret-data.js';
import { Secret } from '../../../lib/object/kinds.js';
import { thrownBy } from './patcher.js';
import type { OpenTargetScene } from './target-scene.js';

const base64 = (value: string | Buffer) => Buffer.from(value as string).toString('base64');

export function secretsSuite(open: OpenTargetScene): void {
  it('a Secret is written from a document with plain strings', async () => {
    const scene = await open();
    const updater = scene.updater(Secret);
    const document = { data: { a: 'päss', n: 42 }, stringData: { b: 'b' }, type: 'Opaque' };
    await updater.write(document);
    const { data, ...rest } = await scene.get(Secret);
    expect(data).to.deep.equal({ a: base64('päss'), n: base64('42'), b: base64('b') });
    expect(rest).to.include({ type: 'Opaque' });
    await scene.writes();
    expect(await updater.write(document)).to.equal('unchanged');
    expect(await scene.writes()).to.deep.equal([]);
  });

  it('a Secret loses a key of stringData that the document no longer has', async () => {
    const scene = await open();
    await scene.updater(Secret).write({ stringData: { a: '1', b: '2' } });
    await scene.updater(Secret).write({ stringData: { b: '2' } });
    expect((await scene.get(Secret))['data']).to.deep.equal({ b: base64('2') });
  });

  it('a Secret is unchanged by decoding and encoding, including bytes that are not text', async () => {
    const scene = await open();
    const bytes = base64(Buffer.from([0, 255, 0x80, 0xe2, 0x82, 0xef, 0xbb, 0xbf, 10]));
    await scene.create(Secret, { data: { bytes, text: base64('text') } });
    const read = await scene.get(Secret);
    const decoded = decodeSecret(read);
    expect(decoded['data']).to.include({ text: 'text' });
    await scene.updater(Secret).write({ data: decoded['data'] });
    expect((await scene.get(Secret))['data']).to.deep.equal(read['data']);
  });

  it('a Secret is patched key by key', async () => {
    const scene = await open();
    await scene.create(Secret, { data: { a: base64('1'), b: base64('2') } });
    const patcher = scene.patcher(Secret);
    await patcher.write({ data: { c: '3', b: null } });
    expect((await scene.get(Secret))['data']).to.deep.equal({ a: base64('1'), c: base64('3') });
    await patcher.remove();
    expect((await scene.get(Secret))['data']).to.deep.equal({ a: base64('1') });
  });

  it('a Secret in an error appears without its values', async () => {
    const scene = await open();
    const updater = scene.updater(Secret);
    const list = await thrownBy(updater.write({ data: { a: ['geheim'] } }));
    expect(String(list)).to.contain(`data["a"]`).and.not.contain('geheim');
    const key = await thrownBy(updater.write({ data: { 'no key': 'geheim' } }));
    expect(String(key)).to.contain(`Secret ${scene.namespace}/web`);
    expect(String(key)).not.to.contain('geheim').and.not.to.contain(base64('geheim'));
  });
}
