// The first import of the page, for what it does when it is read.

import { askAhead } from "./request";

askAhead();
