import { expect } from 'chai';
import { rotationStep, skewMs } from '../../../lib/manager/webhooks/rotation-step.js';
import type { CertificateState } from '../../../lib/manager/webhooks/rotation-step.js';
import { createAuthority, issueCertificate } from '../../../lib/manager/webhooks/x509.js';
import { seededRandom } from '../../../lib/system/random.js';

const dayMs = 24 * 60 * 60_000;
const startMs = Date.UTC(2026, 0, 1);
const rules = {
  ...{ dnsNames: ['hooks.ns.svc'], validityMs: 90 * dayMs, rotateBeforeMs: 30 * dayMs },
  settleMs: 300_000,
};
const random = seededRandom(1);

/** As `generatedCertificates` makes them at `madeMs`. */
const forDays = (madeMs: number, days: number) => ({
  validity: { fromMs: madeMs - skewMs, untilMs: madeMs + days * dayMs },
  random,
});

async function fresh(dnsNames = rules.dnsNames): Promise<CertificateState> {
  const authority = await createAuthority('spec', forDays(startMs, 3650));
  const issued = await issueCertificate(authority, dnsNames, forDays(startMs, 90));
  return { authorities: authority.certificate, authorityKey: authority.privateKey, ...issued };
}

const stepAfter = (state: CertificateState | undefined, days: number) =>
  rotationStep(state, rules, startMs + days * dayMs).type;

describe('rotationStep', () => {
  let state: CertificateState;
  before(async () => {
    state = await fresh();
  });

  it('makes everything where there is nothing, or nothing of use', () => {
    expect(stepAfter(undefined, 0)).to.equal('renewAll');
    expect(stepAfter({ ...state, authorities: 'x' }, 0)).to.equal('renewAll');
    expect(stepAfter({ ...state, authorityKey: state.privateKey }, 0)).to.equal('renewAll');
    expect(stepAfter(state, 3651)).to.equal('renewAll');
  });

  it('leaves alone what is good for long enough', () => {
    expect([0, 30, 59].map((days) => stepAfter(state, days))).to.deep.equal([
      'none',
      'none',
      'none',
    ]);
  });

  it('issues a certificate a third before its end, and when it is over', () => {
    expect([61, 91].map((days) => stepAfter(state, days))).to.deep.equal(['issue', 'issue']);
  });

  it('issues a certificate whose key, text or names are not those that are wanted', async () => {
    const other = await fresh(['other.ns.svc']);
    expect(stepAfter({ ...state, privateKey: other.privateKey }, 0)).to.equal('issue');
    expect(stepAfter({ ...state, certificate: 'x' }, 0)).to.equal('issue');
    expect(stepAfter(other, 0)).to.equal('issue');
  });

  it('trusts one more authority before certificates would outlive the one there is', async () => {
    const issued = await issueCertificate(
      { certificate: state.authorities, privateKey: state.authorityKey },
      ...([rules.dnsNames, forDays(startMs + 3561 * dayMs, 90)] as const),
    );
    expect(stepAfter({ ...state, ...issued }, 3561)).to.equal('addAuthority');
  });

  it('signs with a new authority only when it has been trusted for a while', async () => {
    const next = await createAuthority('spec', forDays(startMs + dayMs, 3650));
    const both = {
      ...state,
      authorities: `${next.certificate}\n${state.authorities}`,
      authorityKey: next.privateKey,
    };
    const stepAt = (afterMs: number) => rotationStep(both, rules, startMs + dayMs + afterMs).type;
    expect([0, 299_000, 301_000].map(stepAt)).to.deep.equal(['none', 'none', 'issue']);
  });

  it('trusts an authority no more whose time is over', async () => {
    const old = await createAuthority('old', forDays(startMs - 20 * dayMs, 10));
    const both = { ...state, authorities: `${state.authorities}\n${old.certificate}` };
    const step = rotationStep(both, rules, startMs + dayMs);
    expect(step).to.have.property('type', 'dropAuthorities');
    expect(step).to.have.property('authorities').that.does.not.contain(old.certificate.trim());
  });
});
