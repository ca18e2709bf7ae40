/** The first part of the metrics' names, unless you choose another. */
export const prometheusNamespace = 'operatorkit';

/** The second part of the metrics' names, unless you choose another. */
export const prometheusSubsystem = 'framework';
