import { expect } from 'chai';
import { Api } from '../api.js';
import { causeMessages } from '../causes.js';

const templates = '/api/v1/namespaces/default/podtemplates';
const container = { name: 'c', image: 'nginx' };

/** Returns the problems of a pod template, whose fields are named from its spec. */
async function problemsOf(spec: object): Promise<Record<string, string>> {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [container], ...spec } };
  const answer = await new Api().call('POST', templates, { metadata: { name: 'one' }, template });
  const messages = Object.entries(causeMessages(answer));
  return Object.fromEntries(
    messages.map(([field, message]) => [field.replace(/^template\.spec\.?/, ''), message]),
  );
}

describe('security contexts of pods', () => {
  const typed = (type: string, localhostProfile?: string): object => ({ type, localhostProfile });
  const appArmorProfiles: readonly [object, Readonly<Record<string, string>>][] = [
    [typed('', 'x'), { type: 'Required value: type is required when appArmorProfile is set' }],
    [
      typed('x', 'x'),
      {
        type: 'Unsupported value: "x": supported values: "Localhost", "RuntimeDefault", "Unconfined"',
      },
    ],
    [
      typed('Unconfined', ''),
      { localhostProfile: 'Invalid value: "": can only be set when AppArmor type is Localhost' },
    ],
    [
      typed('Localhost', ' '),
      { localhostProfile: 'Invalid value: " ": must not be padded with whitespace' },
    ],
    [
      typed('Localhost', 'x'.repeat(4096)),
      { localhostProfile: 'Too long: may not be more than 4095 bytes' },
    ],
    [typed('Localhost', '/a/../b'), {}],
  ];
  for (const [appArmorProfile, problems] of appArmorProfiles) {
    it(`check the AppArmor profile ${JSON.stringify(appArmorProfile).slice(0, 60)}`, async () => {
      const found = await problemsOf({ securityContext: { appArmorProfile } });
      const prefix = 'securityContext.appArmorProfile.';
      const expected = Object.entries(problems).map(([field, why]) => [prefix + field, why]);
      expect(found).to.deep.equal(Object.fromEntries(expected));
    });
  }

  it('require a relative path without .. for a localhost seccomp profile', async () => {
    const context = (localhostProfile: string): object => ({
      securityContext: { seccompProfile: { type: 'Localhost', localhostProfile } },
    });
    const field = 'securityContext.seccompProfile.localhostProfile';
    expect(await problemsOf(context('a/../b'))).to.deep.equal({
      [field]: `Invalid value: "a/../b": must not contain '..'`,
    });
    expect(await problemsOf(context('/a'))).to.deep.equal({
      [field]: 'Invalid value: "/a": must be a relative path',
    });
    expect(await problemsOf(context(''))).to.deep.equal({});
  });

  it('forbid host namespaces if hostUsers is false', async () => {
    const why = 'Forbidden: when `hostUsers` is false';
    const spec = { hostUsers: false, hostNetwork: true, hostPID: true, hostIPC: true };
    expect(await problemsOf(spec)).to.deep.equal({ hostNetwork: why, HostPID: why, HostIPC: why });
  });
});

describe('options of Windows', () => {
  const long = `${'d'.repeat(256)}\\${'é'.repeat(53)}`;
  const longDomain = `${`${'d'.repeat(63)}.`.repeat(4)}d`;
  const names: readonly [string, string | undefined][] = [
    ['ContainerUser', undefined],
    [String.raw`DOMAIN_1\user`, undefined],
    [String.raw`long-domain.example.com\user`, undefined],
    ['', ' cannot be an empty string'],
    ['a\u0001', ' cannot contain control characters'],
    [String.raw`a\b\c`, ' cannot contain more than one backslash'],
    [String.raw`.d\u`, "'s Domain doesn't match the NetBios nor the DNS format"],
    [String.raw`${longDomain}\u`, "'s Domain length must be under 256 characters"],
    ['d\\', "'s User cannot be empty"],
    ['. .', "'s User cannot contain only periods or spaces"],
    ['a@b', `'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`],
    [long, "'s User length must not be longer than 104 characters"],
  ];
  for (const [runAsUserName, problem] of names) {
    it(`check the user ${JSON.stringify(runAsUserName).slice(0, 40)}`, async () => {
      const securityContext = { windowsOptions: { runAsUserName } };
      const found = await problemsOf({ containers: [{ ...container, securityContext }] });
      const field = 'containers[0].securityContext.windowsOptions.runAsUserName';
      expect(Object.keys(found)).to.deep.equal(problem === undefined ? [] : [field]);
      if (problem === undefined) return;
      expect(found[field]).to.satisfy((message: string) =>
        message.endsWith(`: runAsUserName${problem}`),
      );
    });
  }

  it('require valid gMSA credentials of a pod', async () => {
    const windowsOptions = { gmsaCredentialSpec: '', gmsaCredentialSpecName: 'a_' };
    const found = await problemsOf({ securityContext: { windowsOptions } });
    const path = 'securityContext.windowsOptions';
    expect(Object.keys(found)).to.have.members([
      `${path}.gmsaCredentialSpec`,
      `${path}.gmsaCredentialSpecName`,
    ]);
    expect(found[`${path}.gmsaCredentialSpec`]).to.equal(
      'Invalid value: "": gmsaCredentialSpec cannot be an empty string',
    );
    const large = { windowsOptions: { gmsaCredentialSpec: 'x'.repeat(65_537) } };
    expect(await problemsOf({ securityContext: large }))
      .to.have.property(`${path}.gmsaCredentialSpec`)
      .that.matches(/: gmsaCredentialSpec size must be under 64 KiB$/);
  });

  it('require HostProcess in all containers of a pod if one container has it', async () => {
    const hostProcess = (value: boolean): object => ({
      securityContext: { windowsOptions: { hostProcess: value } },
    });
    const containers = [{ ...container, ...hostProcess(true) }];
    expect(await problemsOf({ containers, hostNetwork: true })).to.deep.equal({});
    const initContainers = [{ ...container, name: 'i' }];
    expect(await problemsOf({ containers, initContainers })).to.deep.equal({
      '': 'Invalid value: "": If pod contains any hostProcess containers then all containers must be HostProcess containers',
      hostNetwork:
        'Invalid value: false: hostNetwork must be true if pod contains any hostProcess containers',
    });
    const field = 'containers[0].securityContext.windowsOptions.hostProcess';
    expect(
      await problemsOf({ ...hostProcess(false), containers, hostNetwork: true }),
    ).to.deep.equal({
      [field]:
        'Invalid value: true: pod hostProcess value must be identical if both are specified, was false',
    });
  });
});
