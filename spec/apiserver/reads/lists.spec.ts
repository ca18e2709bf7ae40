import { expect } from 'chai';
import { Api, configMap, configMaps, merge } from '../api.js';
import type { Answer } from '../api.js';

const names = ({ body }: Answer): (string | undefined)[] =>
  body.items.map(({ metadata }) => metadata.name);

async function filled(api: Api, ...all: string[]): Promise<void> {
  for (const name of all) await api.create(configMaps, configMap(name, {}, { labels: { name } }));
}

function continueToken(rv: number, start = 'a\u0000'): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');
}

interface ExpiredList {
  readonly code: number;
  readonly reason: string;
  readonly message: string;
  readonly metadata: { readonly continue: string };
}

describe('lists', () => {
  it('are sorted by namespace and name, with the resourceVersion of the server', async () => {
    const api = new Api();
    await filled(api, 'c', 'a', 'b');
    const list = await api.get('/api/v1/configmaps');
    expect(names(list)).to.deep.equal(['a', 'b', 'c']);
    expect(list.body.metadata.resourceVersion).to.equal(api.server.resourceVersion);
    expect(list.body.items[0]).not.to.have.property('kind');
  });

  it('return one snapshot over all pages, despite changes in between', async () => {
    const api = new Api();
    await filled(api, 'a', 'b', 'c', 'd');
    const first = await api.get(`${configMaps}?limit=2`);
    const { continue: token = '', remainingItemCount } = first.body.metadata as {
      continue?: string;
      remainingItemCount?: number;
    };
    expect(remainingItemCount).to.equal(2);
    await api.call('DELETE', `${configMaps}/c`);
    await filled(api, 'bb', 'e');
    await api.call('PATCH', `${configMaps}/d`, { data: { new: 'x' } }, merge);
    const second = await api.get(`${configMaps}?limit=2&continue=${token}`);
    expect(names(second)).to.deep.equal(['c', 'd']);
    expect(second.body.items[1]).not.to.have.property('data');
    expect(second.body.metadata.resourceVersion).to.equal(first.body.metadata.resourceVersion);
    expect(second.body.metadata).not.to.have.property('continue');
  });

  it('continue a snapshot with objects that were deleted later, and without objects that were created later', async () => {
    const api = new Api();
    await filled(api, 'b', 'c', 'd', 'e');
    const first = await api.get(`${configMaps}?limit=1`);
    expect(names(first)).to.deep.equal(['b']);
    for (const name of ['b', 'c', 'e']) await api.call('DELETE', `${configMaps}/${name}`);
    await filled(api, 'a', 'cc', 'f');
    await api.call('PATCH', `${configMaps}/d`, { data: { changed: 'x' } }, merge);
    const { continue: token = '' } = first.body.metadata as { readonly continue?: string };
    const rest = await api.get(`${configMaps}?limit=9&continue=${token}`);
    expect(names(rest)).to.deep.equal(['c', 'd', 'e']);
    expect(rest.body.items[1]).not.to.have.property('data');
    expect(names(await api.get(configMaps))).to.deep.equal(['a', 'cc', 'd', 'f']);
  });

  it('answer 410 when the server no longer has the changes since the snapshot', async () => {
    const api = new Api();
    await filled(api, 'a', 'b');
    const { body } = await api.get(`${configMaps}?limit=1`);
    await filled(api, 'c');
    api.server.compact();
    const { continue: token = '' } = body.metadata as { continue?: string };
    const late = await api.get(`${configMaps}?continue=${token}`);
    const { code, reason, message, metadata } = late.body as unknown as ExpiredList;
    expect([code, reason, message]).to.deep.equal([
      410,
      'Expired',
      'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
    ]);
    const rest = await api.get(`${configMaps}?continue=${metadata.continue}`);
    expect(names(rest)).to.deep.equal(['b', 'c']);
    const version = String(Number(api.server.resourceVersion) - 1);
    const exact = `${configMaps}?resourceVersionMatch=Exact&resourceVersion=${version}`;
    expect((await api.get(exact)).body).to.deep.include({
      ...{ code: 410, reason: 'Expired', metadata: {} },
      message: 'The resourceVersion for the provided list is too old.',
    });
  });

  it('return an exact version on request, and 504 for a future version', async () => {
    const api = new Api();
    await filled(api, 'a');
    const version = api.server.resourceVersion;
    await filled(api, 'b');
    const exact = await api.get(
      `${configMaps}?resourceVersion=${version}&resourceVersionMatch=Exact`,
    );
    expect(names(exact)).to.deep.equal(['a']);
    const atLeast = await api.get(`${configMaps}?resourceVersion=${version}`);
    expect(names(atLeast)).to.deep.equal(['a', 'b']);
    expect((await api.get(`${configMaps}?resourceVersion=999`)).code).to.equal(504);
  });

  it('ignore the limit at version 0, and refuse a resourceVersion together with a continue token', async () => {
    const api = new Api();
    await filled(api, 'a', 'b', 'c');
    expect(names(await api.get(`${configMaps}?limit=1&resourceVersion=0`))).to.have.length(3);
    const { metadata } = (await api.get(`${configMaps}?limit=1`)).body as {
      metadata: { continue?: string };
    };
    const next = `${configMaps}?limit=1&continue=${metadata.continue ?? ''}`;
    expect(names(await api.get(`${next}&resourceVersion=0`))).to.deep.equal(['b', 'c']);
    const refused = await api.get(`${next}&resourceVersion=1`);
    expect(refused.body.message).to.equal(
      'specifying resource version is not allowed when using continue',
    );
  });

  it('refuse options that exclude each other, each with a cause', async () => {
    const api = new Api();
    const beside = (what: string) => `Forbidden: resourceVersionMatch is forbidden ${what}`;
    const causes = async (query: string) => {
      const { body } = await api.get(`${configMaps}?${query}`);
      return (body as unknown as { details: { causes: { message: string }[] } }).details.causes.map(
        ({ message }) => message,
      );
    };
    const whenContinued = beside('when continue is provided');
    expect(await causes('continue=x&resourceVersionMatch=Exact')).to.deep.equal([
      beside('unless resourceVersion is provided'),
      whenContinued,
    ]);
    expect(await causes('watch=true&continue=x')).to.deep.equal([whenContinued]);
    expect(await causes('watch=true&continue=x&resourceVersion=0')).to.deep.equal([whenContinued]);
    expect(
      await causes('watch=true&continue=x&resourceVersionMatch=NotOlderThan&sendInitialEvents=1'),
    ).to.deep.equal([whenContinued]);
    expect(await causes('resourceVersion=0&resourceVersionMatch=Exact')).to.deep.equal([
      'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
    ]);
    expect(await causes('resourceVersion=1&resourceVersionMatch=Other')).to.deep.equal([
      'Unsupported value: "Other": supported values: "Exact", "NotOlderThan", ""',
    ]);
    expect(await causes('sendInitialEvents=false')).to.deep.equal([
      'Forbidden: sendInitialEvents is forbidden for list',
    ]);
    expect(await causes('watch=true&sendInitialEvents=false')).to.deep.equal([
      'Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ]);
    const allowed = await api.get(
      `${configMaps}?resourceVersion=0&resourceVersionMatch=NotOlderThan`,
    );
    expect(allowed.code).to.equal(200);
  });

  it('refuse the field selector name, which lacks the path metadata.name', async () => {
    const answer = await new Api().get('/api/v1/namespaces?fieldSelector=name%3Dx');
    expect(answer.body.message).to.equal('field label not supported: name');
  });

  it('continue after the name in a continue token, at the current state if the version in the token is -1', async () => {
    const api = new Api();
    await filled(api, 'a', 'b', 'c');
    for (const start of ['a\u0000', '/a\u0000']) {
      const list = await api.get(`${configMaps}?continue=${continueToken(-1, start)}`);
      expect(names(list)).to.deep.equal(['b', 'c']);
    }
  });

  it('answer 504 to a continue token of a future version, and 400 to one of version 0', async () => {
    const api = new Api();
    await filled(api, 'a', 'b');
    const future = await api.get(`${configMaps}?continue=${continueToken(999)}`);
    expect([future.code, future.body['reason']]).to.deep.equal([504, 'Timeout']);
    const none = await api.get(`${configMaps}?continue=${continueToken(0)}`);
    expect([none.code, none.body.message]).to.deep.equal([
      400,
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ]);
  });

  it('refuse malformed numbers and continue tokens', async () => {
    const api = new Api();
    const problem = async (query: string) => {
      const { code, body } = await api.get(`${configMaps}${query}`);
      return [code, body.message];
    };
    expect(await problem('?limit=9223372036854775808')).to.deep.equal([
      ...[400, 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
    ]);
    const token = 'invalid continue token: continue key is not valid: illegal base64 data';
    expect(await problem('?continue=x')).to.deep.equal([400, `${token} at input byte 0`]);
    expect(await problem('?continue=ab!d')).to.deep.equal([400, `${token} at input byte 2`]);
    const invalid = 'invalid continue token: continue key is not valid';
    const unknown = `${invalid}: server does not recognize this encoded version`;
    const v = 'meta.k8s.io/v1';
    for (const [token, message] of [
      [[], unknown],
      [{ v: 'meta.k8s.io/v2', rv: 1, start: 'a\u0000' }, unknown],
      [{ v, rv: '1', start: 'a\u0000' }, invalid],
      [{ v, rv: 1, start: 1 }, invalid],
      [{ v, rv: 1, start: 'a' }, invalid],
    ] as const) {
      const sent = Buffer.from(JSON.stringify(token)).toString('base64url');
      expect(await problem(`?continue=${sent}`)).to.deep.equal([400, message]);
    }
    const version =
      'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax';
    expect(await problem('?resourceVersion=x')).to.deep.equal([
      ...[400, `invalid resource version: ${version}`],
    ]);
    for (const query of ['/a?resourceVersion=x', '?watch=true&resourceVersion=x']) {
      expect(await problem(query)).to.deep.equal([500, version]);
    }
  });

  it('omit objects that do not match the selectors', async () => {
    const api = new Api();
    await filled(api, 'a', 'b', 'c');
    expect(names(await api.get(`${configMaps}?labelSelector=name+in+(a,c)`))).to.deep.equal([
      'a',
      'c',
    ]);
    expect(names(await api.get(`${configMaps}?fieldSelector=metadata.name!=b`))).to.deep.equal([
      'a',
      'c',
    ]);
    const everything = await api.get(`${configMaps}?fieldSelector=%3D`);
    expect(names(everything)).to.deep.equal(names(await api.get(configMaps)));
  });

  for (const [path, message] of [
    [
      configMaps,
      '"data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ['/apis/batch/v1/jobs', 'field label "data.x" not supported for Job'],
    ...[
      ...['/api/v1/pods', '/api/v1/nodes', '/api/v1/services', '/api/v1/secrets', '/api/v1/events'],
      ...['/api/v1/namespaces', '/api/v1/replicationcontrollers'],
      '/apis/certificates.k8s.io/v1/certificatesigningrequests',
      '/apis/events.k8s.io/v1/events',
    ].map((path) => [path, 'field label not supported: data.x'] as const),
  ] as const) {
    it(`refuse an unknown field selector: ${path}`, async () => {
      const { code, body } = await new Api().get(`${path}?fieldSelector=z=1,data.x=b`);
      expect([code, body.message]).to.deep.equal([400, message]);
    });
  }

  it('omit remainingItemCount if a selector is set', async () => {
    const api = new Api();
    await filled(api, 'a', 'b', 'c');
    const { metadata } = (await api.get(`${configMaps}?limit=1&labelSelector=name`)).body;
    expect(metadata).to.have.all.keys('resourceVersion', 'continue');
    const whole = (await api.get(`${configMaps}?limit=3`)).body.metadata;
    expect(whole).to.deep.equal({ resourceVersion: api.server.resourceVersion });
    expect(names(await api.get(`${configMaps}?limit=-1`))).to.deep.equal(['a', 'b', 'c']);
  });

  it('are returned as metadata or as a table on request', async () => {
    const api = new Api();
    await filled(api, 'a');
    await api.clock.advance(65_000);
    const metadata = await api.get(configMaps, {
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    });
    expect(metadata.body.items[0]).to.have.all.keys('kind', 'apiVersion', 'metadata');
    const none = await api.get(`${configMaps}?labelSelector=app%3Dnone`, {
      accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    });
    expect(none.body.items).to.equal(null);
    const table = await api.get(configMaps, {
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
    });
    expect(table.body['rows'])
      .to.have.nested.property('[0].cells')
      .that.deep.equals(['a', 0, '65s']);
  });

  it('are returned as JSON if the client only prefers protobuf, and answer 406 if it accepts neither', async () => {
    const api = new Api();
    const accept = 'application/vnd.kubernetes.protobuf,application/json';
    expect((await api.get(configMaps, { accept })).code).to.equal(200);
    expect((await api.get(configMaps, { accept: 'text/html' })).code).to.equal(406);
    // A header with the text `undefined` is not the same as a missing header.
    await api.get(configMaps);
    expect((await api.get(configMaps, { accept: 'undefined' })).code).to.equal(406);
  });
});
