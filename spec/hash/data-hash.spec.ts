import { expect } from 'chai';
import { configMapHash, hashObject, secretHash } from '../../lib/hash/index.js';

describe('configMapHash', () => {
  it('is the same in every release', () => {
    const hash = '66a3af98b0dd225c41ed1796835519ead903e9e77ab618ce800bb96985aa1154';
    expect(configMapHash({ data: { A: '1' } })).to.equal(hash);
  });

  it('covers data and binaryData, but no metadata', () => {
    const plain = configMapHash({ data: { A: '1' } });
    const labelled = { metadata: { labels: { a: 'b' } }, data: { A: '1' } };
    expect(configMapHash(labelled)).to.equal(plain);
    expect(configMapHash({ data: { A: '2' } })).not.to.equal(plain);
    expect(configMapHash({ binaryData: { A: '1' } })).not.to.equal(plain);
    expect(configMapHash({ data: { A: '1' }, binaryData: { B: 'AA==' } })).not.to.equal(plain);
  });

  it('treats an empty map as absent, like the server', () => {
    const none = hashObject({});
    expect(configMapHash({ data: {}, binaryData: {} })).to.equal(none);
    expect(configMapHash({})).to.equal(none);
  });
});

describe('secretHash', () => {
  it('is the same in every release', () => {
    const hash = '3c6ee0a65c045121f386c35c562a746f439e1aed2fde349da9ccee024be76719';
    const uid = '6f1c2a1e-0000-4000-8000-000000000001';
    expect(secretHash({ stringData: { password: 'hunter2' } }, uid)).to.equal(hash);
  });

  it('is equal for stringData and data', () => {
    const given = { stringData: { password: 'hunter2' } };
    const stored = { data: { password: 'aHVudGVyMg==' } };
    expect(secretHash(given, 'uid-1')).to.equal(secretHash(stored, 'uid-1'));
  });

  it('is keyed with the UID, so that a weak secret cannot be guessed from the hash', () => {
    const weak = { stringData: { password: '1234' } };
    expect(secretHash(weak, 'uid-1')).not.to.equal(secretHash(weak, 'uid-2'));
    expect(secretHash(weak, 'uid-1')).not.to.equal(configMapHash(weak));
  });
});
