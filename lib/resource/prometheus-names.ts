/** The default first part of the metrics' names. */
export const prometheusNamespace = 'operatorkit';

/** The default second part of the metrics' names. */
export const prometheusSubsystem = 'framework';
