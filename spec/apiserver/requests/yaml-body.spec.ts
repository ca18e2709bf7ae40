import { expect } from 'chai';
import { Api, configMaps } from '../api.js';

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const yaml = 'application/yaml';

/** Returns the data of a created config map, or the message of the error. */
async function dataOf(text: string): Promise<unknown> {
  const path = `${configMaps}?fieldManager=m&dryRun=All`;
  const { code, body } = await new Api().call('POST', path, text, yaml);
  return code === 201 ? body['data'] : body.message;
}

describe('a body in YAML', () => {
  const fillers = { 'empty lines': '\n', comments: '\n #' };
  for (const [name, filler] of Object.entries(fillers)) {
    it(`may have 100,000 ${name} in a list or map in brackets`, async () => {
      const many = filler.repeat(100_000);
      expect(await dataOf(`${head}data: {k: ${many}\n v${many}\n }`)).to.deep.equal({ k: 'v' });
      expect(await dataOf(`${head}data: {k: v}\nx: [${many}\n ]`)).to.deep.equal({ k: 'v' });
    });
  }

  it('is refused if a value in brackets has many anchors, tags or colons', async () => {
    for (const text of ['[&a ', '[!t ', '{: ']) {
      const [bracket = '', ...filler] = text;
      const value = bracket + filler.join('').repeat(50_000);
      expect(await dataOf(`${head}data: ${value}`)).to.include('error decoding YAML: ');
    }
  });
});
