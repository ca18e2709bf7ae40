import { expect } from 'chai';
import { rotationStep, skewMs } from '../../../lib/manager/webhooks/certificate-secret.js';
import type { CertificateState } from '../../../lib/manager/webhooks/certificate-secret.js';
import { createAuthority, issueCertificate } from '../../../lib/system/x509.js';
import { seededRandom } from '../../../lib/system/random.js';

const dayMs = 24 * 60 * 60_000;
const startMs = Date.UTC(2026, 0, 1);
const rules = {
  ...{ dnsNames: ['hooks.ns.svc'], validityMs: 90 * dayMs, rotateBeforeMs: 30 * dayMs },
  settleMs: 300_000,
};
const random = seededRandom(1);

/** The options with which `generatedCertificates` creates certificates at `madeMs`. */
const forDays = (madeMs: number, days: number) => ({
  validity: { fromMs: madeMs - skewMs, untilMs: madeMs + days * dayMs },
  random,
});

async function fresh(dnsNames = rules.dnsNames): Promise<CertificateState> {
  const authority = await createAuthority('spec', forDays(startMs, 3650));
  const issued = await issueCertificate(authority, dnsNames, forDays(startMs, 90));
  return { authorities: authority.certificate, authorityKey: authority.privateKey, ...issued };
}

const at = (days: number) => ({ nowMs: startMs + days * dayMs, trustedForMs: undefined });

const stepAfter = (state: CertificateState | undefined, days: number) =>
  rotationStep(state, rules, at(days)).type;

describe('rotationStep, which decides what to renew in a certificate Secret', () => {
  let state: CertificateState;
  before(async () => {
    state = await fresh();
  });

  it('renews authority and certificate if they do not exist or cannot be used', () => {
    expect(stepAfter(undefined, 0)).to.equal('renewAll');
    expect(stepAfter({ ...state, authorities: 'x' }, 0)).to.equal('renewAll');
    expect(stepAfter({ ...state, authorityKey: '', certificate: '' }, 0)).to.equal('renewAll');
    expect(stepAfter({ ...state, authorities: '', authorityKey: '' }, 0)).to.equal('renewAll');
    expect(stepAfter(state, 3651)).to.equal('renewAll');
  });

  it('adds an authority and keeps the certificate if the key of the current authority is missing or wrong', () => {
    for (const authorityKey of ['', 'x', state.privateKey]) {
      expect(stepAfter({ ...state, authorityKey }, 0), authorityKey).to.equal('addAuthority');
    }
  });

  it('keeps a certificate that is valid for long enough', () => {
    expect([0, 30, 59].map((days) => stepAfter(state, days))).to.deep.equal([
      'none',
      'none',
      'none',
    ]);
  });

  it("issues a certificate when at most a third of the current one's validity is left", () => {
    expect([61, 91].map((days) => stepAfter(state, days))).to.deep.equal(['issue', 'issue']);
  });

  it('issues a certificate if the current one has another key, invalid text or other names', async () => {
    const other = await fresh(['other.ns.svc']);
    expect(stepAfter({ ...state, privateKey: other.privateKey }, 0)).to.equal('issue');
    expect(stepAfter({ ...state, certificate: 'x' }, 0)).to.equal('issue');
    expect(stepAfter(other, 0)).to.equal('issue');
  });

  it('adds an authority before new certificates would outlive the current authority', async () => {
    const issued = await issueCertificate(
      { certificate: state.authorities, privateKey: state.authorityKey },
      ...([rules.dnsNames, forDays(startMs + 3561 * dayMs, 90)] as const),
    );
    expect(stepAfter({ ...state, ...issued }, 3561)).to.equal('addAuthority');
  });

  describe('after it has added an authority', () => {
    let both: CertificateState;
    before(async () => {
      const next = await createAuthority('spec', forDays(startMs + dayMs, 3650));
      const authorities = `${next.certificate}\n${state.authorities}`;
      both = { ...state, authorities, authorityKey: next.privateKey };
    });
    const stepAt = (days: number, trustedForMs: number | undefined): string =>
      rotationStep(both, rules, { nowMs: startMs + days * dayMs, trustedForMs }).type;

    it('signs with the new authority only after all configurations have trusted it for settleMs', () => {
      const steps = [0, 299_999, 300_000].map((trustedForMs) => stepAt(2, trustedForMs));
      expect(steps).to.deep.equal(['none', 'none', 'issue']);
    });

    it('keeps the current certificate until it expires while a configuration does not trust the new authority', () => {
      const steps = [2, 61, 89, 91].map((days) => stepAt(days, undefined));
      expect(steps).to.deep.equal(['none', 'none', 'none', 'issue']);
    });

    it('signs with the new authority at once if the current certificate is not signed by a trusted one', async () => {
      const other = await fresh();
      expect(rotationStep({ ...both, certificate: 'x' }, rules, at(2)).type).to.equal('issue');
      const foreign = { ...both, certificate: other.certificate, privateKey: other.privateKey };
      expect(rotationStep(foreign, rules, at(2)).type).to.equal('issue');
    });

    it('adds another authority if the new one is not valid yet, as when a clock that is ahead created it', () => {
      const early = rotationStep(both, rules, at(0));
      expect(early).to.have.property('type', 'addAuthority');
      expect(early).to.have.property('why').that.contains('not valid before');
    });
  });

  it('replaces certificates that are not valid yet, as when a clock that is ahead created them', async () => {
    const authority = await createAuthority('spec', forDays(startMs, 3650));
    const madeMs = startMs + 2 * skewMs + 1_000;
    const issued = await issueCertificate(authority, rules.dnsNames, {
      validity: { fromMs: madeMs - skewMs, untilMs: madeMs + 90 * dayMs },
      random,
    });
    const own = { authorities: authority.certificate, authorityKey: authority.privateKey };
    expect(stepAfter({ ...own, ...issued }, 0)).to.equal('issue');
    const later = { nowMs: startMs + 1_000, trustedForMs: undefined };
    expect(rotationStep({ ...own, ...issued }, rules, later).type).to.equal('none');
    expect(stepAfter(state, -1)).to.equal('renewAll');
    expect(stepAfter({ ...state, privateKey: '' }, 0)).to.equal('issue');
  });

  it('drops an expired authority', async () => {
    const old = await createAuthority('old', forDays(startMs - 20 * dayMs, 10));
    const both = { ...state, authorities: `${state.authorities}\n${old.certificate}` };
    const step = rotationStep(both, rules, at(1));
    expect(step).to.have.property('type', 'dropAuthorities');
    expect(step).to.have.property('authorities').that.does.not.contain(old.certificate.trim());
  });
});
