// Every function that is deployed, one line each.
import './demo/syncs/contacts.js';
import './demo/actions/rename-contact.js';
import './demo/on-events/receive-webhooks.js';
