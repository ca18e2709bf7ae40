import type {
  V1Container,
  V1PodSpec,
  V1WindowsSecurityContextOptions,
} from '@kubernetes/client-node';
import type { FieldErrors } from '../../crd/internal.js';
import { subdomainProblems } from '../../object/index.js';
import type { Wire } from '../../object/index.js';

type WindowsOptions = Wire<V1WindowsSecurityContextOptions>;

const mostCredentialKib = 64;
const domainLimit = 256;
const mostUserBytes = 104;

/** Checks the options of Windows in the security context of a pod or a container. */
export function validateWindowsOptions(
  { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName }: WindowsOptions,
  errors: FieldErrors,
): void {
  errors.text('gmsaCredentialSpecName', gmsaCredentialSpecName, subdomainProblems);
  if (gmsaCredentialSpec === '') {
    const why = 'gmsaCredentialSpec cannot be an empty string';
    errors.invalid('gmsaCredentialSpec', gmsaCredentialSpec, why);
  } else if (Buffer.byteLength(gmsaCredentialSpec ?? '') > mostCredentialKib * 1024) {
    const why = `gmsaCredentialSpec size must be under ${mostCredentialKib} KiB`;
    errors.invalid('gmsaCredentialSpec', gmsaCredentialSpec, why);
  }
  if (runAsUserName === undefined) return;
  const problems = accountProblems(runAsUserName).map((problem) => `runAsUserName${problem}`);
  errors.invalidEach('runAsUserName', runAsUserName, problems);
}

// Only the control characters of ASCII, as in the class `cntrl` of Go.
const controlCharacter = /[^ -~\u0080-\u{10FFFF}]/u;

/** Returns the problems of an account, `USER` or `DOMAIN\USER`. */
function accountProblems(account: string): string[] {
  if (account === '') return [' cannot be an empty string'];
  if (controlCharacter.test(account)) return [' cannot contain control characters'];
  const parts = account.split('\\');
  if (parts.length > 2) return [' cannot contain more than one backslash'];
  const user = parts.pop() ?? '';
  return [...parts.flatMap(domainProblems), ...userProblems(user)];
}

const netBiosName = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/u;
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const dnsName = new RegExp(String.raw`^${dnsLabel}(?:\.${dnsLabel})*$`);

function domainProblems(domain: string): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(domain) >= domainLimit) {
    problems.push(`'s Domain length must be under ${domainLimit} characters`);
  }
  if (!netBiosName.test(domain) && !dnsName.test(domain)) {
    problems.push("'s Domain doesn't match the NetBios nor the DNS format");
  }
  return problems;
}

function userProblems(user: string): string[] {
  const problems: string[] = [];
  if (user === '') problems.push("'s User cannot be empty");
  else if (Buffer.byteLength(user) > mostUserBytes) {
    problems.push(`'s User length must not be longer than ${mostUserBytes} characters`);
  }
  if (/^[. ]+$/.test(user)) problems.push("'s User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    problems.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  }
  return problems;
}

interface Pod {
  readonly spec: Wire<V1PodSpec>;
  /** All containers, each with its path. */
  readonly containers: readonly (readonly [Wire<V1Container>, string])[];
}

/** Checks that the containers of a pod are either all HostProcess containers or all ordinary ones. */
export function validateHostProcesses({ spec, containers }: Pod, errors: FieldErrors): void {
  const ofPod = spec.securityContext?.windowsOptions?.hostProcess;
  let count = 0;
  for (const [{ securityContext }, path] of containers) {
    const own = securityContext?.windowsOptions?.hostProcess;
    if (ofPod !== undefined && own !== undefined && own !== ofPod) {
      const why = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      errors.invalid(`${path}.securityContext.windowsOptions.hostProcess`, own, why);
    }
    if (own ?? ofPod) count += 1;
  }
  if (count === 0) return;
  if (count !== containers.length) {
    const why =
      'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    errors.invalid('', '', why);
  }
  if (spec.hostNetwork === true) return;
  const why = 'hostNetwork must be true if pod contains any hostProcess containers';
  errors.invalid('hostNetwork', false, why);
}
