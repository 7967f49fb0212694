import { z } from 'zod';

const reference = z.object({ id: z.string(), summary: z.string().nullish() });

/** An incident as PagerDuty lists it. */
export const PagerDutyApiIncident = z.object({
  id: z.string(),
  incident_number: z.number(),
  title: z.string(),
  status: z.enum(['triggered', 'acknowledged', 'resolved']),
  urgency: z.enum(['high', 'low']),
  priority: reference.nullish(),
  incident_key: z.string().nullish(),
  service: reference,
  escalation_policy: reference,
  teams: z.array(reference),
  /** Empty when it is resolved. */
  assignments: z.array(z.object({ assignee: reference })),
  html_url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  resolved_at: z.string().nullable(),
});
export type PagerDutyApiIncident = z.infer<typeof PagerDutyApiIncident>;

export const Incident = z.object({
  id: z.string(),
  number: z.number(),
  title: z.string(),
  status: z.enum(['triggered', 'acknowledged', 'resolved']),
  urgency: z.enum(['high', 'low']),
  /** As the account calls it, such as `P1`. */
  priority: z.string().nullable(),
  incident_key: z.string().nullable(),
  service_id: z.string(),
  service_name: z.string().nullable(),
  escalation_policy_id: z.string(),
  team_ids: z.array(z.string()),
  assignee_ids: z.array(z.string()),
  url: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  resolved_at: z.string().nullable(),
});
export type Incident = z.infer<typeof Incident>;

export const incidentOf = (incident: PagerDutyApiIncident): Incident => ({
  id: incident.id,
  number: incident.incident_number,
  title: incident.title,
  status: incident.status,
  urgency: incident.urgency,
  priority: incident.priority?.summary ?? null,
  incident_key: incident.incident_key ?? null,
  service_id: incident.service.id,
  service_name: incident.service.summary ?? null,
  escalation_policy_id: incident.escalation_policy.id,
  team_ids: incident.teams.map(({ id }) => id),
  assignee_ids: incident.assignments.map(({ assignee }) => assignee.id),
  url: incident.html_url,
  created_at: incident.created_at,
  updated_at: incident.updated_at,
  resolved_at: incident.resolved_at,
});
