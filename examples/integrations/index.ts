// Every function that is deployed, one line each. The first folder is the integration.
import './github/syncs/issues.js';
import './github/actions/create-issue.js';
import './hubspot/syncs/contacts.js';
import './hubspot/on-events/check-access.js';
import './hubspot/on-events/remember-portal.js';
import './zendesk/syncs/tickets.js';
import './zendesk/actions/close-ticket.js';
import './jira/syncs/issues.js';
import './freshdesk/syncs/companies.js';
import './stripe/syncs/charges.js';
import './stripe/actions/create-customer.js';
import './notion/syncs/pages.js';
import './slack/actions/post-message.js';
import './google-calendar/syncs/events.js';
